import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { Project, pack } from '../../../test/support/project.js'
import { startTestReceiver } from '../../../test/support/receiver.js'

const tools = new Project()
let tarballs: readonly string[]
beforeAll(async () => {
  const packed = ['.', 'packages/opentelemetry'].map((workspace) => pack(workspace, tools.folder))
  tarballs = (await Promise.all(packed)).map(({ tarball }) => tarball)
})
afterAll(() => tools.remove())

const logs = '@opentelemetry/sdk-logs'
const newest = 'newest'
const withSdk = `
  const provider = new LoggerProvider({ processors: [new BatchLogRecordProcessor({ exporter })] })
  provider.getLogger('shop').emit({ body: 'by OpenTelemetry' })
  await provider.shutdown()`
const withOldSdk = `
  const provider = new LoggerProvider()
  provider.addLogRecordProcessor(new BatchLogRecordProcessor(exporter))
  provider.getLogger('shop').emit({ body: 'by OpenTelemetry' })
  await provider.shutdown()`
const withNodeSdk = `
  const sdk = new NodeSDK({ logRecordProcessors: [new BatchLogRecordProcessor({ exporter })] })
  sdk.start()
  logs.getLogger('shop').emit({ body: 'by OpenTelemetry' })
  await sdk.shutdown()`

/** The oldest SDK, that of the lock file, and the newest: the lock file hides what it does to an installation. */
const rows = [
  ...['0.200', '0.223', newest].map((version) => ({
    packages: [`${logs}@${version}`],
    imports: `import { BatchLogRecordProcessor, LoggerProvider } from '${logs}'`,
    program: version === '0.200' ? withOldSdk : withSdk,
  })),
  {
    packages: ['sdk-node', 'sdk-logs', 'api'].map((name) => `@opentelemetry/${name}@${newest}`),
    imports: `import { logs } from '@opentelemetry/api'
      import { BatchLogRecordProcessor } from '${logs}'
      import { NodeSDK } from '@opentelemetry/sdk-node'`,
    program: withNodeSdk,
  },
]

/** npm itself takes the newest that names this version of Node.js in its `engines`. */
async function withVersion(name: string): Promise<string> {
  const bare = name.slice(0, name.lastIndexOf('@'))
  return `${bare}@${(await tools.npm('view', bare, 'version')).stdout.trim()}`
}

it.each(rows)(
  '$packages.0 is installed beside it without a word, compiles with its exporter, and delivers',
  async (row) => {
    const project = new Project({ type: 'module' })
    onTestFinished(() => project.remove())
    const { packages, imports, program } = row
    const versions = await Promise.all(packages.map((name) => (name.endsWith(newest) ? withVersion(name) : name)))
    const warnings = await project.install(...tarballs, 'pino@latest', 'winston@latest', '@types/node@22', ...versions)
    expect(warnings.filter((line) => /ERESOLVE|peer/.test(line))).toEqual([])
    expect(project.installed().filter(({ path }) => path.endsWith('sluice/package.json'))).toHaveLength(1)
    project.write(
      'app.mts',
      `${imports}
    import { SluiceLogRecordExporter } from 'sluice-opentelemetry'
    const exporter = new SluiceLogRecordExporter()
    ${program}`,
    )
    const compiler = join(import.meta.dirname, '../../../node_modules/typescript/bin/tsc')
    const settings = ['--module', 'nodenext', '--target', 'es2022', '--strict', '--skipLibCheck', '--types', 'node']
    const { stdout } = await project.node(compiler, ...settings, 'app.mts')
    expect(stdout).toBe('')
    const receiver = await startTestReceiver()
    onTestFinished(() => receiver.close())
    const ended = await project.run(process.execPath, ['app.mjs'], {
      ...receiver.variables,
      OTEL_TRACES_EXPORTER: 'none',
    })
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect((await receiver.logs()).map(({ message }) => message)).toEqual(['by OpenTelemetry {"scope":"shop"}'])
  },
)
