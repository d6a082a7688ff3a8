import { readFileSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { rowsOf } from '../../support/full.js'
import { Project, pack } from '../../support/project.js'
import { startTestReceiver, type TestReceiver } from '../../support/receiver.js'

const root = join(import.meta.dirname, '../../..')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string
  exports: Record<string, unknown>
  peerDependencies: Record<string, string>
}
const entries = Object.keys(manifest.exports)
  .filter((name) => name !== './package.json')
  .map((name) => name.replace(/^\./, 'sluice'))

/** All that `npm install` brings: the budget is 2.4 MB of 1,000,000 bytes. */
const mostBytes = 1_500_000
/** Our own files unpacked, documents and examples too, without undici's code and licence. */
const mostOwnBytes = 750_000
const notOwn = ['dist/undici.cjs', 'THIRD-PARTY-LICENSES']

/** The README is the repository's, too. The registry's page resolves these links by `repository` of package.json. */
const ofRepository =
  /^((CONTRIBUTING|CHANGELOG|SECURITY)\.md|benchmarks\/|receiver\/|test\/|docs\/(testing-strategy\.md|threat-model\.md|comparison\.md|receiver-page\.md|coming-from\/.*\.md|receiver\.png)$)/

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
      expect.arrayContaining(['LICENSE', 'THIRD-PARTY-LICENSES', 'README.md', 'package.json', 'bin/sluice.js']),
    )
    const known =
      /^(LICENSE|THIRD-PARTY-LICENSES|(README|AGENTS)\.md|package\.json|docs\/(coming-from\/)?[a-z-]+\.md|examples\/.*|bin\/sluice\.js|dist\/(undici|engine)\.cjs|dist\/delivery-worker\.mjs|dist\/.*(?<!\.test)(\.js|\.d\.ts))$/
    expect(paths.filter((path) => !known.test(path))).toEqual([])
    const scripts = paths.filter((path) => /\.[cm]?js$/.test(path))
    const mapped = scripts.filter((path) => project.read(`node_modules/sluice/${path}`).includes('sourceMappingURL'))
    expect(mapped).toEqual([])
  })

  it.each(['pino.js', 'delivery-worker.mjs', 'index.js', 'winston.js'])(
    'reads few files and few packages when %s is loaded: a thread that starts waits for each',
    (entry) => {
      const imports = (file: string) =>
        [
          ...project
            .read(`node_modules/sluice/dist/${file}`)
            .matchAll(/(?:^|;)import(?:[^"();]*from)?"(?!node:)([^"]+)"/gm),
        ].map(([, name]) => name!)
      const files = new Set([entry])
      const packages = new Set<string>()
      for (const file of files) {
        for (const name of imports(file)) {
          if (name === '#engine') files.add('engine-late.js')
          else name.startsWith('./') ? files.add(name.slice(2)) : packages.add(name)
        }
      }
      expect([...files]).toEqual(expect.arrayContaining(['sluice.js', 'engine-late.js']))
      expect(files.size).toBeLessThan(8)
      const allowed = ['pino-abstract-transport', 'winston']
      expect([...packages].filter((name) => !allowed.includes(name))).toEqual([])
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

  it(`takes at most ${mostOwnBytes} bytes unpacked, beside undici`, () => {
    const own = library.files.filter(({ path }) => !notOwn.includes(path))
    const bytes = own.reduce((sum, { size }) => sum + size, 0)
    expect(bytes).toBeGreaterThan(400_000)
    expect(bytes).toBeLessThanOrEqual(mostOwnBytes)
  })

  it('has the licence of undici, which it contains', () => {
    const text = project.read('node_modules/sluice/THIRD-PARTY-LICENSES')
    expect(text).toContain(readFileSync(join(root, 'node_modules/undici/LICENSE'), 'utf8').trim())
    expect(project.read('node_modules/sluice/dist/undici.cjs')).toContain('see THIRD-PARTY-LICENSES')
    expect(project.installed().filter(({ path }) => /^(undici|winston-transport)\//.test(path))).toEqual([])
  })

  it('has the documents of users and the examples, and what they link to', () => {
    const paths = new Set(library.files.map(({ path }) => path))
    const documents = [...paths].filter((path) => path.endsWith('.md'))
    expect(documents).toEqual(
      expect.arrayContaining(['README.md', 'docs/delivery.md', 'docs/testing.md', 'examples/README.md']),
    )
    expect(documents.filter((path) => /internals|testing-strategy|decisions/.test(path))).toEqual([])
    const dead = documents.flatMap((path) =>
      [...project.read(`node_modules/sluice/${path}`).matchAll(/\]\(([^)#\s]+)/g)]
        .map(([, link]) => link!)
        .filter((link) => !/^[a-z]+:/.test(link))
        .map((link) => ({ path, target: join(dirname(path), link) }))
        .filter(({ target }) => ![...paths].some((each) => each === target || each.startsWith(join(target, '/')))),
    )
    const inPackage = dead
      .filter(({ path, target }) => path !== 'README.md' || !ofRepository.test(target))
      .filter(({ target }) => !/^examples\/(frameworks|migration)\//.test(target))
    expect(inPackage).toEqual([])
  })

  it('needs no types of what it does not bring, and asks for no version of what it does not load', () => {
    expect(Object.keys(manifest.peerDependencies)).toEqual(['pino', 'winston'])
    const types = library.files.filter(({ path }) => path.endsWith('.d.ts'))
    const named = types.flatMap(({ path }) => [
      ...project.read(`node_modules/sluice/${path}`).matchAll(/(?:from|import\()\s*['"]([^.'"][^'"]*)['"]/g),
    ])
    const known = [...Object.keys(manifest.peerDependencies), 'pino-abstract-transport', 'thread-stream']
    const others = named.map(([, name]) => name!).filter((name) => !name.startsWith('node:') && !known.includes(name))
    expect([...new Set(others)]).toEqual([])
  })

  it.each(entries.filter((entry) => entry !== 'sluice/winston'))(
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

  it('keeps the names of functions and classes in stack traces, and the line that Node prints short', async () => {
    const mistake = `import { createSluice } from 'sluice'; createSluice({ bucke: 'b' })`
    const { code, stderr } = await project.node('--input-type=module', '--eval', mistake)
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^ConfigError: unknown option bucke; did you mean bucket\?\n {4}at refuseUnknown \(.*engine\.cjs:/m,
    )
    expect(stderr).toMatch(/ {4}at (Module\.)?createSluice \(file:.*sluice\.js:/)
    expect(Math.max(...stderr.split('\n').map((line) => line.length))).toBeLessThan(1000)
  })

  const few = [{}, { SLUICE_URL: 'http://127.0.0.1:9' }, { SLUICE_SHUTDOWN_TIMEOUT_MS: '100' }]
  it.each(rowsOf(few, (variables) => 'SLUICE_URL' in variables))(
    'loses events and nothing else where its engine cannot be read, with %j',
    async (variables) => {
      const engine = join(project.folder, 'node_modules/sluice/dist/engine.cjs')
      renameSync(engine, `${engine}.away`)
      onTestFinished(() => renameSync(`${engine}.away`, engine))
      project.write(
        'unread.mjs',
        `import { close, flush, stats, track } from 'sluice'
        track(1)
        await new Promise((resolve) => setTimeout(resolve))
        track(2)
        await flush()
        process.stdout.write(String(stats().accepted + (await close()).accepted))`,
      )
      const ended = await project.run(process.execPath, ['unread.mjs'], variables)
      expect(ended).toMatchObject({ code: 0, stdout: '0' })
      expect(ended.stderr).toBe(
        'sluice: dist/engine.cjs of sluice cannot be read (MODULE_NOT_FOUND), events are lost: install sluice again, or leave it out of the bundle\n',
      )
    },
  )

  it('names winston where sluice/winston is imported without it', async () => {
    const { code, stderr } = await project.node('--input-type=module', '--eval', `import 'sluice/winston'`)
    expect(code).toBe(1)
    expect(stderr).toContain("Cannot find package 'winston' imported from")
  })

  it('shows flush and close with the name of their options', () => {
    const types = project.read('node_modules/sluice/dist/tracking/sluice.d.ts')
    for (const method of ['flush', 'close']) {
      expect(types).toContain(`function ${method}(options?: DrainOptions): Promise<Ledger>`)
      expect(types).toContain(`\t${method}(options?: DrainOptions): Promise<Ledger>`)
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

  it('bring the receiver, which takes the library that is there', async () => {
    const { tarball, files } = await pack('receiver', tarballs.folder)
    const paths = files.map(({ path }) => path)
    const documents = ['LICENSE', 'README.md', 'package.json', 'bin/sluice-receiver.js']
    expect(paths).toEqual(expect.arrayContaining(documents))
    const code = /^dist\/(.*(\.js|\.d\.ts)|web\/(index\.html|main-\w+\.css))$/
    expect(paths.filter((path) => !documents.includes(path) && !code.test(path))).toEqual([])
    // SQLite for Node versions without one has an install script, which npm mentions; the library has none.
    const warnings = await project.install(library.tarball, tarball)
    expect(warnings.filter((line) => /deprecated|ERESOLVE|peer/.test(line))).toEqual([])
    const copies = project.installed().filter(({ path }) => path.endsWith('sluice/bin/sluice.js'))
    expect(copies.map(({ path }) => path)).toEqual(['sluice/bin/sluice.js'])
    const program = join(project.folder, 'node_modules/.bin/sluice-receiver')
    expect(await project.run(program, ['--version'])).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: '' })
  }, 120_000)
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
