import { chmodSync, cpSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { bundled } from '../../tools/release/sbom.js'
import { type Printed, Project } from '../support/project.js'

const root = join(import.meta.dirname, '../..')
const entries = '### Added\n\n- `track`\n  and more.'

/** In the place of npm: writes down how it was called, publishes nothing, and is npm itself for the rest. */
const npm = `#!/bin/sh
echo "$1 \${2##*/}" >> "$CALLS"
case "$1" in
  view) case " $IN_REGISTRY " in *" $2 "*) echo "\${2##*@}" ;; esac ;;
  publish) case "$2" in *"\${REFUSED:-none}"*) exit 1 ;; *) echo "$@" >> "$CALLS.published" ;; esac ;;
  *) PATH="$OLD_PATH" exec npm "$@" ;;
esac
`

describe('npm run release', () => {
  let project: Project
  const git = async (...written: string[]) => {
    const { code, stdout, stderr } = await project.run('git', written, identity)
    if (code !== 0) throw new Error(`git ${written.join(' ')}: ${stderr}`)
    return stdout.trim()
  }
  /** Run in the repository; variables are for the program that is there in the place of npm. */
  const release = (written: readonly string[] = [], variables: Record<string, string> = {}): Promise<Printed> => {
    const old = process.env.PATH ?? ''
    const stand = { PATH: `${project.folder}/bin:${old}`, OLD_PATH: old, CALLS: `${project.folder}/calls` }
    return project.run(process.execPath, ['repository/tools/release.js', ...written], {
      ...identity,
      ...stand,
      ...variables,
    })
  }
  const calls = () => project.read('calls').trim().split('\n')
  const write = (path: string, value: unknown) =>
    project.write(`repository/${path}`, typeof value === 'string' ? value : JSON.stringify(value))
  const manifest = (name: string) => ({
    name,
    version: '1.2.0',
    type: 'module',
    repository: 'github:example/sluice',
    homepage: 'https://example.com/sluice',
    bugs: 'https://example.com/sluice/issues',
    files: ['dist'],
  })
  const lock = (version: string) => ({
    lockfileVersion: 3,
    packages: {
      '': { name: 'sluice', version },
      'packages/receiver': { name: 'sluice-receiver', version },
      'packages/tools': { name: 'sluice-tools', version },
    },
  })

  beforeEach(async () => {
    project = new Project()
    project.write('bin/npm', npm)
    chmodSync(join(project.folder, 'bin/npm'), 0o755)
    const check =
      'for at in . packages/receiver packages/tools; do mkdir -p $at/dist; echo 1 > $at/dist/index.js; done; exit $CHECK'
    write('package.json', {
      ...manifest('sluice'),
      workspaces: ['.', 'packages/*'],
      scripts: { check },
    })
    write('packages/receiver/package.json', { ...manifest('sluice-receiver'), dependencies: { sluice: '^1.2.0' } })
    write('packages/tools/package.json', { ...manifest('sluice-tools'), dependencies: { sluice: '^1.2.0' } })
    write('package-lock.json', lock('1.2.0'))
    write('CHANGELOG.md', `# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2026-03-04\n\n${entries}\n`)
    write('.gitignore', 'dist/\nrelease/\nnode_modules/\n')
    for (const name of Object.values(bundled).flat()) {
      write(`node_modules/${name}/package.json`, { name, version: '3.2.1', license: 'MIT' })
    }
    for (const path of ['tools/release.js', 'tools/release']) {
      cpSync(join(root, path), join(project.folder, 'repository', path), { recursive: true })
    }
    await git('init', '--quiet', '--bare', '--initial-branch=main', 'origin')
    await git('init', '--quiet', '--initial-branch=main', 'repository')
    await git('-C', 'repository', 'remote', 'add', 'origin', '../origin')
    await commit()
  }, 30_000)
  afterEach(() => project.remove())

  const commit = async () => {
    await git('-C', 'repository', 'add', '--all')
    await git('-C', 'repository', 'commit', '--quiet', '--message', 'a')
    await git('-C', 'repository', 'push', '--quiet', 'origin', 'main')
  }

  it('says what it would do, with what is in the tarballs, and changes nothing', async () => {
    write('dist/of-a-file-that-is-gone.js', '1')
    const { code, stdout, stderr } = await release()
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^sluice-1\.2\.0\.tgz: .* package\.json dist\/ \(1 files\)$/m)
    expect(stdout).toMatch(/^sluice-receiver-1\.2\.0\.tgz: .* package\.json dist\/ \(1 files\)$/m)
    expect(stdout).toContain('npm publish sluice@1.2.0 --provenance')
    expect(stdout).toContain('gh release create v1.2.0 --verify-tag --notes-from-tag release/sluice-1.2.0.cdx.json')
    const described = ['install --package-lock-only', 'sbom --package-lock-only']
    const packed = ['pack --json', 'pack --json', 'pack --json']
    expect(calls()).toEqual(['run check', ...packed, ...described, ...described, ...described])
    expect(await git('-C', 'repository', 'tag')).toBe('')
  })

  it('writes an SBOM of each package beside its tarball, with what is bundled into it', async () => {
    expect(await release()).toMatchObject({ code: 0, stderr: '' })
    const files = readdirSync(join(project.folder, 'repository/release')).sort()
    const names = ['sluice-1.2.0', 'sluice-receiver-1.2.0', 'sluice-tools-1.2.0']
    expect(files).toEqual(names.flatMap((name) => [`${name}.cdx.json`, `${name}.tgz`]))
    const [library, receiver] = names.map((name) => JSON.parse(project.read(`repository/release/${name}.cdx.json`)))
    expect(library).toMatchObject({
      bomFormat: 'CycloneDX',
      metadata: { component: { purl: 'pkg:npm/sluice@1.2.0' } },
      components: [],
      dependencies: [{ ref: 'sluice@1.2.0', dependsOn: [] }],
    })
    expect(receiver.metadata.component.purl).toBe('pkg:npm/sluice-receiver@1.2.0')
    const components = receiver.components.map(({ name }: { name: string }) => name)
    expect(components).toEqual(['sluice', ...Object.values(bundled).flat()])
    const own = receiver.dependencies.find(({ ref }: { ref: string }) => ref === 'sluice-receiver@1.2.0')
    const bundles = bundled['sluice-receiver']!.map((name) => `${name}@3.2.1`)
    expect(own.dependsOn).toEqual(['sluice@1.2.0', ...bundles])
    expect(JSON.stringify([library, receiver])).not.toContain(project.folder)
  })

  it('with --publish publishes library and receiver with provenance, and tags the commit with what CHANGELOG.md says', async () => {
    expect(await release(['--publish'])).toMatchObject({ code: 0, stderr: '' })
    expect(calls().filter((call) => call.startsWith('publish'))).toEqual([
      'publish sluice-1.2.0.tgz',
      'publish sluice-receiver-1.2.0.tgz',
      'publish sluice-tools-1.2.0.tgz',
    ])
    for (const call of project.read('calls.published').trim().split('\n')) {
      expect(call).toMatch(/\.tgz --provenance --access public --tag latest$/)
    }
    const head = await git('-C', 'repository', 'rev-parse', 'HEAD')
    expect(await git('-C', 'origin', 'rev-list', '-n', '1', 'v1.2.0')).toBe(head)
    expect(await git('-C', 'origin', 'tag', '--list', '--format=%(contents)', 'v1.2.0')).toBe(`v1.2.0\n\n${entries}`)
    const again = await release(['--publish'])
    expect(again).toMatchObject({ code: 1 })
    expect(again.stderr).toContain('v1.2.0 is released already')
  })

  it('goes on where it was interrupted', async () => {
    const interrupted = await release(['--publish'], { REFUSED: 'receiver' })
    expect(interrupted).toMatchObject({ code: 1 })
    expect(interrupted.stderr).toMatch(/npm publish .*sluice-receiver-1\.2\.0\.tgz .* failed\n$/)
    expect(await git('-C', 'repository', 'tag')).toBe('')
    const again = await release(['--publish'], { IN_REGISTRY: 'sluice@1.2.0' })
    expect(again).toMatchObject({ code: 0, stderr: '' })
    expect(again.stdout).toContain('sluice@1.2.0 is in the registry already')
    const published = calls().filter((call) => call === 'publish sluice-1.2.0.tgz')
    expect(published).toHaveLength(1)
    expect(await git('-C', 'origin', 'tag')).toBe('v1.2.0')
  })

  it('stops when the gate is closed', async () => {
    const { code, stderr } = await release(['--publish'], { CHECK: '3' })
    expect(code).toBe(1)
    expect(stderr).toContain('npm run check failed')
    expect(calls()).toEqual(['run check'])
  })

  it('publishes what is not final yet under another tag than latest', async () => {
    const files = ['package.json', 'packages/receiver/package.json', 'packages/tools/package.json']
    for (const path of [...files, 'package-lock.json', 'CHANGELOG.md']) {
      write(path, project.read(`repository/${path}`).replaceAll('1.2.0', '1.2.0-rc.1'))
    }
    await commit()
    expect(await release()).toMatchObject({ code: 0, stdout: expect.stringContaining('--access public --tag next\n') })
  })

  const changed = (path: string, change: Record<string, unknown>) => () =>
    write(path, { ...JSON.parse(project.read(`repository/${path}`)), ...change })

  it.each<[string, string, () => unknown]>([
    [
      'another version of the receiver',
      'expected 1.2.0',
      changed('packages/receiver/package.json', { version: '1.1.0' }),
    ],
    [
      'a receiver that asks for an older library',
      'it depends on sluice ^1.1.0: expected ^1.2.0',
      changed('packages/receiver/package.json', { dependencies: { sluice: '^1.1.0' } }),
    ],
    ['an older lock file', 'package-lock.json: version 1.1.0', () => write('package-lock.json', lock('1.1.0'))],
    [
      'no repository',
      'packages/receiver/package.json: repository is missing',
      changed('packages/receiver/package.json', { repository: undefined }),
    ],
    [
      'no homepage',
      "package.json: homepage is missing: npm pkg set 'homepage=https://…'",
      changed('package.json', { homepage: undefined }),
    ],
    [
      'no address for bugs',
      "packages/receiver/package.json: bugs is missing: npm pkg set 'bugs.url=https://…' --workspace packages/receiver",
      changed('packages/receiver/package.json', { bugs: undefined }),
    ],
    ['a private package', 'package.json: private', changed('package.json', { private: true })],
    [
      'no entry in CHANGELOG.md',
      'CHANGELOG.md: there is no section ## [1.2.0]',
      () => write('CHANGELOG.md', '# Changelog\n'),
    ],
  ])('refuses %s', async (_, words, change) => {
    change()
    await commit()
    await refused(words)
  })

  it.each<[string, string, () => unknown]>([
    ['a file that is not committed', 'changes that are not committed: new.js', () => write('new.js', '')],
    [
      'another branch',
      'releases are made on main, and this is other',
      () => git('-C', 'repository', 'switch', '--quiet', '--create', 'other'),
    ],
    [
      'a commit that nobody has',
      'HEAD is not main of origin',
      () => git('-C', 'repository', 'commit', '--quiet', '--allow-empty', '--message', 'b'),
    ],
    [
      'a tag of another commit',
      'there is a tag v1.2.0 here that is not HEAD',
      async () => {
        await git('-C', 'repository', 'tag', 'v1.2.0')
        await git('-C', 'repository', 'commit', '--quiet', '--allow-empty', '--message', 'b')
        await git('-C', 'repository', 'push', '--quiet', 'origin', 'main')
      },
    ],
    [
      'a version that is released',
      'v1.2.0 is released already',
      async () => {
        await git('-C', 'repository', 'tag', 'v1.2.0')
        await git('-C', 'repository', 'push', '--quiet', 'origin', 'v1.2.0')
      },
    ],
    ['a copy without origin', 'git ls-remote origin', () => git('-C', 'repository', 'remote', 'remove', 'origin')],
  ])('refuses %s', async (_, words, change) => {
    await change()
    await refused(words)
  })

  it('tells of every obstacle at once', async () => {
    write('CHANGELOG.md', '# Changelog\n')
    const { stderr } = await release()
    expect(stderr).toContain('not committed: CHANGELOG.md')
    expect(stderr).toContain('there is no section')
  })

  it('knows no other option', async () => {
    expect(await release(['--dry-run'])).toEqual({
      code: 2,
      stdout: '',
      stderr: '--dry-run: expected nothing, or --publish\n',
    })
  })

  const refused = async (words: string) => {
    const { code, stderr } = await release(['--publish'])
    expect(code).toBe(1)
    expect(stderr).toContain(words)
    expect(() => calls()).toThrow('ENOENT')
  }
})

const identity = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.com',
}
