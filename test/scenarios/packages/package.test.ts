import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { full, rowsOf } from '../../support/full.js'
import { Project, pack } from '../../support/project.js'
import { startTestReceiver, type TestReceiver } from '../../support/receiver.js'

const root = join(import.meta.dirname, '../../..')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string
  exports: Record<string, unknown>
  dependencies: Record<string, string>
  peerDependencies: Record<string, string>
}
const entries = Object.keys(manifest.exports)
  .filter((name) => typeof manifest.exports[name] !== 'string')
  .map((name) => name.replace(/^\./, 'sluice'))

/** All that `npm install` brings, in bytes of 1,000,000. */
const mostBytes = 6_000_000

/** The README is the repository's, too. The registry's page resolves the links of this section by `repository` of package.json. */
const ofRepository = '## In the repository'

let tarballs: Project
let library: Awaited<ReturnType<typeof pack>>
beforeAll(async () => {
  tarballs = new Project()
  library = await pack('.', tarballs.folder)
}, 120_000)
afterAll(() => tarballs.remove())

describe('the package', () => {
  let project: Project
  let warnings: readonly string[]
  beforeAll(async () => {
    project = new Project()
    warnings = await project.install(library.tarball)
  }, 120_000)
  afterAll(() => project.remove())

  it('has in its tarball what runs, its types and its documents, and nothing else', () => {
    const paths = library.files.map(({ path }) => path)
    expect(paths).toEqual(
      expect.arrayContaining(['LICENSE', 'README.md', 'package.json', 'dist/cli.js', 'dist/delivery-worker.mjs']),
    )
    const known =
      /^(LICENSE|(README|AGENTS)\.md|package\.json|docs\/(README|(coming-from\/)?[a-z-]+)\.md|examples\/.*|dist\/delivery-worker\.mjs|dist\/.*(?<!\.test)(\.js|\.d\.ts))$/
    expect(paths.filter((path) => !known.test(path))).toEqual([])
    const scripts = paths.filter((path) => /\.[cm]?js$/.test(path))
    const mapped = scripts.filter((path) => project.read(`node_modules/sluice/${path}`).includes('sourceMappingURL'))
    expect(mapped).toEqual([])
  })

  it.each(['pino.js', 'delivery-worker.mjs', 'index.js', 'winston.js'])(
    'loads no package at the start of %s but what it cannot do without',
    (entry) => {
      const imports = (file: string) =>
        [
          ...project
            .read(`node_modules/sluice/dist/${file}`)
            .matchAll(/^(?:import|export)\b(?:[^"();]*?from )?"(?!node:)([^"]+)"/gms),
        ].map(([, name]) => name!)
      const files = new Set([entry])
      const packages = new Set<string>()
      for (const file of files) {
        for (const name of imports(file)) {
          if (name.startsWith('./')) files.add(name.slice(2))
          else if (!isBuiltin(name)) packages.add(name)
        }
      }
      expect(files.size > 1).toBe(entry !== 'delivery-worker.mjs')
      expect([...packages]).toEqual(entry === 'winston.js' ? ['winston-transport'] : [])
    },
  )

  it('is installed alone without a word, a script, or anything that must be compiled', () => {
    expect(warnings).toEqual([])
    const installed = project.installed().map(({ path }) => path)
    expect(installed.filter((path) => /\.node$|(^|\/)binding\.gyp$|\.wasm$/.test(path))).toEqual([])
    const manifests = installed.filter((path) => /^(@[^/]+\/)?[^@/][^/]*\/package\.json$/.test(path))
    expect(manifests.length).toBeGreaterThan(3)
    const hooks = manifests.flatMap((path) => {
      const { scripts = {} } = JSON.parse(project.read(`node_modules/${path}`)) as { scripts?: Record<string, string> }
      return Object.keys(scripts)
        .filter((name) => /^(pre|post)?install$/.test(name))
        .map((name) => `${path}: ${name}`)
    })
    expect(hooks).toEqual([])
    expect(installed.filter((path) => /^(pino|winston)\//.test(path))).toEqual([])
  })

  it(`takes at most ${mostBytes} bytes with all that it depends on`, () => {
    const bytes = project.installed().reduce((sum, file) => sum + file.bytes, 0)
    expect(bytes).toBeGreaterThan(900_000)
    expect(bytes).toBeLessThanOrEqual(mostBytes)
  })

  it('declares what it needs, and nothing that it does not load', () => {
    const names = Object.keys(manifest.dependencies)
    const code = library.files.filter(({ path }) => /^dist\/[^/]+\.m?js$/.test(path))
    const loaded = code.flatMap(({ path }) => {
      const text = project.read(`node_modules/sluice/${path}`)
      return [...text.matchAll(/(?:from |import |import\(|import\.meta\.url\)\()"([a-z][^":/]+)(?:\/[^":]*)?"/g)].map(
        ([, name]) => name!,
      )
    })
    const packages = new Set(loaded.filter((name) => !isBuiltin(name)))
    expect([...packages].sort()).toEqual(names.sort())
  })

  it('has the documents of users and the examples, and what they link to', () => {
    const paths = new Set(library.files.map(({ path }) => path))
    const documents = [...paths].filter((path) => path.endsWith('.md'))
    expect(documents).toEqual(
      expect.arrayContaining(['README.md', 'docs/delivery.md', 'docs/testing.md', 'examples/README.md']),
    )
    expect(documents.filter((path) => /internals|testing-strategy|decisions/.test(path))).toEqual([])
    const [readme = '', onlyThere] = project.read('node_modules/sluice/README.md').split(ofRepository)
    expect(onlyThere).toContain('](CONTRIBUTING.md)')
    const textOf = (path: string) => (path === 'README.md' ? readme : project.read(`node_modules/sluice/${path}`))
    const dead = documents.flatMap((path) =>
      [...textOf(path).matchAll(/\]\(([^)#\s]+)/g)]
        .map(([, link]) => link!)
        .filter((link) => !/^[a-z]+:/.test(link))
        .map((link) => ({ path, target: join(dirname(path), link) }))
        .filter(({ target }) => ![...paths].some((each) => each === target || each.startsWith(join(target, '/')))),
    )
    expect(dead.filter(({ target }) => !/^examples\/(frameworks|migration)\//.test(target))).toEqual([])
  })

  it('needs no types of what it does not bring, and asks for no version of what it does not load', () => {
    expect(Object.keys(manifest.peerDependencies)).toEqual(['pino', 'winston'])
    const types = library.files.filter(({ path }) => path.endsWith('.d.ts'))
    const named = types.flatMap(({ path }) => [
      ...project.read(`node_modules/sluice/${path}`).matchAll(/(?:from|import\()\s*['"]([^.'"][^'"]*)['"]/g),
    ])
    const known = [...Object.keys(manifest.peerDependencies), ...Object.keys(manifest.dependencies)]
    const others = named.map(([, name]) => name!).filter((name) => !name.startsWith('node:') && !known.includes(name))
    expect([...new Set(others)]).toEqual([])
  })

  it.each(rowsOf(entries, (entry) => ['sluice', 'sluice/pino', 'sluice/winston'].includes(entry)))(
    'gives %s to import and to require, without pino, winston, or a word',
    async (entry) => {
      const print = 'process.stdout.write(Object.keys(module).filter((name) => name !== "__esModule").sort().join())'
      const imported = await project.node(
        '--input-type=module',
        '--eval',
        `import * as module from '${entry}'; ${print}`,
      )
      expect(imported).toMatchObject({ code: 0, stderr: '' })
      expect(imported.stdout === '').toBe(entry === 'sluice/register')
      project.write('require.cjs', `{ const module = require('${entry}'); ${print} }`)
      expect(await project.node('require.cjs')).toEqual(imported)
    },
  )

  it.each([
    ['opentelemetry', 'import sluice-opentelemetry'],
    ['reading', 'sluice-receiver/client'],
    ['records', 'sluice-opentelemetry'],
    ['express', 'docs/frameworks.md'],
    ['fastify', 'docs/frameworks.md'],
  ])('says where sluice/%s is now: %s', async (entry, where) => {
    const { code, stderr } = await project.node('--input-type=module', '--eval', `import 'sluice/${entry}'`)
    expect(code).toBe(1)
    expect(stderr).toMatch(new RegExp(`^Error: sluice/${entry} is [^\\n]*${where}`, 'm'))
  })

  it('has code that people can read: the names in stack traces, and the line that Node prints', async () => {
    const mistake = `import { createSluice } from 'sluice'; createSluice({ bucke: 'b' })`
    const { code, stderr } = await project.node('--input-type=module', '--eval', mistake)
    expect(code).toBe(1)
    expect(stderr).toMatch(/^ConfigError: unknown option bucke; did you mean bucket\?\n {4}at refuseUnknown \(/m)
    expect(stderr).toMatch(/ {4}at (Module\.)?createSluice \(file:.*\/dist\/[\w-]+\.js:/)
    expect(Math.max(...stderr.split('\n').map((line) => line.length))).toBeLessThan(200)
  })

  it('shows flush and close with the name of their options', () => {
    const types = project.read('node_modules/sluice/dist/tracking/sluice.d.ts')
    for (const method of ['flush', 'close']) {
      expect(types).toContain(`function ${method}(options?: DrainOptions): Promise<Ledger>`)
      expect(types).toContain(`    ${method}(options?: DrainOptions): Promise<Ledger>`)
    }
  })

  it('has the command sluice', async () => {
    const help = await project.npm('exec', '--no', '--offline', '--loglevel=error', '--', 'sluice', '--help')
    expect(help).toMatchObject({ code: 0, stderr: '' })
    expect(help.stdout).toContain('Usage: sluice ')
    const version = await project.run(join(project.folder, 'node_modules/.bin/sluice'), ['--version'])
    expect(version).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: '' })
  })
})

describe('the packages, installed in an application', () => {
  let project: Project
  let receiver: TestReceiver
  beforeAll(async () => {
    receiver = await startTestReceiver()
    project = new Project({ type: 'module' })
  })
  afterAll(async () => {
    project.remove()
    await receiver.close()
  })

  it('deliver by pino’s target, winston and track, and npm has no word about the peers', async () => {
    expect(await project.install(library.tarball, 'pino', 'winston')).toEqual([])
    project.write('application.js', application)
    const ended = await project.run(process.execPath, ['application.js'], receiver.variables)
    expect(ended).toEqual({ code: 0, stdout: '', stderr: '' })
    const messages = (await receiver.logs()).map(({ message }) => message)
    expect(messages.sort()).toEqual(['by pino {"number":1}', 'by winston {"number":2}'])
    expect((await receiver.values()).map(({ eventId }) => eventId)).toEqual([1001])
  }, 120_000)

  it.runIf(full)(
    'bring the receiver, which takes the library that is there',
    async () => {
      const { tarball, files } = await pack('packages/receiver', tarballs.folder)
      const paths = files.map(({ path }) => path)
      const documents = ['LICENSE', 'README.md', 'package.json', 'bin/sluice-receiver.js']
      expect(paths).toEqual(expect.arrayContaining(documents))
      const code = /^dist\/(.*(\.js|\.d\.ts)|web\/(index\.html|(main-\w+|sign-in)\.css))$/
      expect(paths.filter((path) => !documents.includes(path) && !code.test(path))).toEqual([])
      // SQLite for Node versions without one has an install script, which npm mentions; the library has none.
      const warnings = await project.install(library.tarball, tarball)
      expect(warnings.filter((line) => /deprecated|ERESOLVE|peer/.test(line))).toEqual([])
      const copies = project.installed().filter(({ path }) => path.endsWith('sluice/dist/cli.js'))
      expect(copies.map(({ path }) => path)).toEqual(['sluice/dist/cli.js'])
      const program = join(project.folder, 'node_modules/.bin/sluice-receiver')
      expect(await project.run(program, ['--version'])).toEqual({
        code: 0,
        stdout: `${manifest.version}\n`,
        stderr: '',
      })
      const { stdout } = await project.run(program, ['logs'], receiver.variables)
      expect(stdout).toContain('by pino {"number":1}')
    },
    240_000,
  )

  it.runIf(full)(
    'bring the client that reads from the receiver, with types of the packages alone',
    async () => {
      project.write('reading.ts', reading)
      const compiler = join(root, 'node_modules/typescript/bin/tsc')
      const options =
        '--module nodenext --target es2022 --lib es2022,esnext.disposable,dom --types --strict --skipLibCheck'
      expect(await project.node(compiler, ...options.split(' '), 'reading.ts')).toMatchObject({ code: 0, stdout: '' })
      const read = await project.run(process.execPath, ['reading.js', receiver.project], receiver.variables)
      expect(read).toEqual({ code: 0, stdout: '2 2 ["demo"] unauthorized true', stderr: '' })
    },
    120_000,
  )

  it.runIf(full)(
    'bring the tools, which run beside the library',
    async () => {
      const { tarball, files } = await pack('packages/tools', tarballs.folder)
      const paths = files.map(({ path }) => path)
      const known = /^(LICENSE|README\.md|package\.json|bin\/sluice-tools\.js|dist\/.*\.js)$/
      expect(paths).toEqual(expect.arrayContaining(['README.md', 'bin/sluice-tools.js', 'dist/cli.js']))
      expect(paths.filter((path) => !known.test(path))).toEqual([])
      await project.install(tarball)
      const program = join(project.folder, 'node_modules/.bin/sluice-tools')
      project.write('app.log', 'a line\n')
      const shipped = await project.run(program, ['ship', 'app.log'], receiver.variables)
      expect(shipped).toEqual({ code: 0, stdout: '', stderr: '1 of 1 record delivered\n' })
      project.write('entries.ndjson', '{"fields":{}}\n')
      const written = ['migrate', 'entries.ndjson', '--project', receiver.project, '--type', 'article', '--json']
      const migrated = await project.run(program, written, receiver.variables)
      expect(JSON.parse(migrated.stdout)).toMatchObject({ ok: false, stopped: expect.stringContaining('article') })
    },
    240_000,
  )
})

const application = `
  import { track } from 'sluice'
  import { SluiceTransport } from 'sluice/winston'
  import pino from 'pino'
  import winston from 'winston'

  pino({ transport: { target: 'sluice/pino' } }).info({ number: 1 }, 'by pino')
  winston.createLogger({ transports: [new SluiceTransport()] }).info('by winston', { number: 2 })
  track(1001)
`

const reading = `
  import { ApiError, createReadingClient, type LogFilter, type Project, type RecordCounts, type StoredLog } from 'sluice-receiver/client'

  declare const process: { argv: string[]; stdout: { write(text: string): void } }
  const bucket = process.argv[2] ?? ''
  const reading = createReadingClient()
  const filter: LogFilter = { minLevel: 'trace', since: '1h' }
  const logs: StoredLog[] = []
  for await (const log of reading.logs(bucket, filter)) logs.push(log)
  const { total }: RecordCounts = await reading.countLogs(bucket, { ...filter, step: '1m' })
  const list: readonly Project[] = (await reading.projects().page()).list
  const refused = await createReadingClient({ apiKey: 'wrong' }).countLogs(bucket).catch((error: unknown) => error)
  const { code } = refused as ApiError
  process.stdout.write([logs.length, total, JSON.stringify(list.map(({ id }) => id)), code, refused instanceof ApiError].join(' '))
  await reading.close()

  // @ts-expect-error values have no level
  const one = () => reading.values('demo', { minLevel: 'warn' })
  // @ts-expect-error not every name of a level can be compared
  const two = () => reading.logs('demo', { minLevel: 'loud' })
  // @ts-expect-error options of lanes are not for reading
  const three = () => createReadingClient({ bucket: 'demo' })
`
