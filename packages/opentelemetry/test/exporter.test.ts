import { SeverityNumber } from '@opentelemetry/api-logs'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchLogRecordProcessor,
  LoggerProvider,
  type LogRecordExporter,
  SimpleLogRecordProcessor,
} from '@opentelemetry/sdk-logs'
import { ConfigError, close, type SluiceOptions, setLevel, withContext } from 'sluice'
import { captureSluice } from 'sluice/testing'
import { SluiceLogRecordExporter } from 'sluice-opentelemetry'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { delivered, FaultServer } from '../../../test/support/fault-server.js'
import { startTestReceiver, type TestReceiver } from '../../../test/support/receiver.js'

let receiver: TestReceiver
beforeAll(async () => {
  receiver = await startTestReceiver()
})
afterAll(() => receiver.close())

const processors = {
  batch: (exporter: LogRecordExporter) => new BatchLogRecordProcessor({ exporter }),
  simple: (exporter: LogRecordExporter) => new SimpleLogRecordProcessor({ exporter }),
}

function providerOf(exporter: LogRecordExporter, attributes: Record<string, string> = {}): LoggerProvider {
  return new LoggerProvider({
    resource: resourceFromAttributes(attributes),
    processors: [processors.batch(exporter)],
  })
}

/** The result of the export of one record. */
function exported(exporter: LogRecordExporter): { code: number; error?: Error | undefined } {
  let result: { code: number; error?: Error } | undefined
  const direct: LogRecordExporter = {
    export: (records) => exporter.export(records, (outcome) => (result = outcome)),
    forceFlush: async () => {},
    shutdown: async () => {},
  }
  new LoggerProvider({ processors: [processors.simple(direct)] }).getLogger('direct').emit({ body: 'direct' })
  return result!
}

describe.each(['batch', 'simple'] as const)('the exporter behind the %s processor', (kind) => {
  it.each(['worker', 'inline'] as const)('delivers all records before the shutdown resolves, mode %s', async (mode) => {
    const appName = `${kind} ${mode}`
    const exporter = new SluiceLogRecordExporter({ ...receiver.options, mode, appName })
    const provider = new LoggerProvider({ processors: [processors[kind](exporter)] })
    const logger = provider.getLogger('checkout', '1.0.0')
    const attributes = { orderId: 7, bytes: new Uint8Array(2), none: undefined }
    logger.emit({ body: 'order placed', severityNumber: SeverityNumber.WARN, timestamp: 1_700_000_000_000, attributes })
    logger.emit({ body: 'failed', severityText: 'ERROR', exception: new TypeError('boom') })
    await provider.shutdown()
    const stored = (await receiver.logs()).filter((each) => each.appName === appName)
    // Records of one turn may arrive in any order.
    const logs = stored.sort((one, other) => one.timeStamp - other.timeStamp)
    expect(logs.map(({ level, message }) => [level, message.split('\n')[0]])).toEqual([
      ['warn', 'order placed {"orderId":7,"bytes":"[Uint8Array, 2 bytes]","scope":"checkout"}'],
      ['error', 'failed {"scope":"checkout"}'],
    ])
    expect(logs[0]!.timeStamp).toBe(1_700_000_000_000)
    expect(logs[1]!.message).toMatch(/\nTypeError: boom\n {4}at /)
  })
})

describe('forceFlush', () => {
  it('resolves when the records are delivered', async () => {
    const exporter = new SluiceLogRecordExporter({ ...receiver.options, appName: 'flushed' })
    onTestFinished(() => exporter.shutdown())
    const provider = providerOf(exporter)
    provider.getLogger('').emit({ body: 'flushed' })
    await provider.forceFlush()
    expect((await receiver.logs()).filter(({ appName }) => appName === 'flushed')).toHaveLength(1)
  })

  it('resolves at its deadline in an outage, and the batch processor exports later records', async () => {
    const server = await FaultServer.start(() => ({ type: 'silence' }))
    onTestFinished(() => server.close())
    const options: SluiceOptions = { url: server.url, apiKey: 'k', bucket: 'b', mode: 'inline' }
    const exporter = new SluiceLogRecordExporter({ ...options, shutdownTimeoutMs: 50, requestTimeoutMs: 100 })
    const provider = new LoggerProvider({
      processors: [new BatchLogRecordProcessor({ exporter, maxExportBatchSize: 1 })],
    })
    const logger = provider.getLogger('')
    logger.emit({ body: 'in the outage' })
    // The export of the first record is in flight: here the SDK does not catch a rejection.
    await expect(provider.forceFlush()).resolves.toBeUndefined()
    server.script = () => delivered
    server.forget()
    logger.emit({ body: 'after the outage' })
    await expect.poll(() => server.taken.join(), { timeout: 10_000 }).toContain('after the outage')
    await provider.shutdown()
  })
})

describe('shutdown', () => {
  it('is idempotent, and a later export fails', async () => {
    const exporter = new SluiceLogRecordExporter({ ...receiver.options, appName: 'shut down' })
    expect(exported(exporter)).toEqual({ code: 0 })
    const first = exporter.shutdown()
    expect(exporter.shutdown()).toBe(first)
    await first
    await exporter.forceFlush()
    const { code, error } = exported(exporter)
    expect([code, error?.message]).toEqual([1, 'log records were not accepted: the exporter is shut down'])
    expect((await receiver.logs()).filter(({ appName }) => appName === 'shut down')).toHaveLength(1)
  })

  it('makes later exports fail where Sluice is off, too', async () => {
    const exporter = new SluiceLogRecordExporter({ disabled: true })
    expect(exported(exporter).code).toBe(0)
    await exporter.shutdown()
    expect(exported(exporter).code).toBe(1)
  })

  it('leaves the engine to other exporters that use it', async () => {
    const options = { ...receiver.options, appName: 'two exporters' }
    const [one, other] = [new SluiceLogRecordExporter(options), new SluiceLogRecordExporter(options)]
    exported(one)
    exported(other)
    await one.shutdown()
    expect(exported(other).code).toBe(0)
    await other.shutdown()
    expect((await receiver.logs()).filter(({ appName }) => appName === 'two exporters')).toHaveLength(3)
  })
})

describe('the records of an exporter', () => {
  it('name the service of their resource, one by one', async () => {
    using captured = captureSluice()
    const exporter = new SluiceLogRecordExporter({ ...receiver.options, env: 'by option' })
    for (const name of ['shop', 'stock']) {
      const attributes = { 'service.name': name, 'service.version': '2', 'deployment.environment.name': 'staging' }
      const provider = providerOf(exporter, attributes)
      provider.getLogger('').emit({ body: `from ${name}` })
      await provider.forceFlush()
    }
    expect(captured.logs.map(({ message, appName, appVersion, env }) => [message, appName, appVersion, env])).toEqual([
      ['from shop', 'shop', '2', 'by option'],
      ['from stock', 'stock', '2', 'by option'],
    ])
  })

  it('have the scope of their logger among their fields', () => {
    using captured = captureSluice()
    const provider = new LoggerProvider({ processors: [processors.simple(new SluiceLogRecordExporter())] })
    for (const scope of ['shop', 'stock']) provider.getLogger(scope).emit({ body: 'again' })
    expect(captured.logs.map(({ message }) => message)).toEqual(['again {"scope":"shop"}', 'again {"scope":"stock"}'])
  })

  it('have none of the fields of the task in which the SDK exports them', () => {
    using captured = captureSluice()
    const provider = new LoggerProvider({ processors: [processors.simple(new SluiceLogRecordExporter())] })
    withContext({ requestId: 'r-1' }, () => provider.getLogger('').emit({ body: 'of any task' }))
    expect(captured.logs.map(({ message }) => message)).toEqual(['of any task'])
  })

  it('are at least as severe as the option level', () => {
    using captured = captureSluice()
    const exporter = new SluiceLogRecordExporter({ level: 'warn' })
    const provider = new LoggerProvider({ processors: [processors.simple(exporter)] })
    const numbers = [SeverityNumber.INFO4, SeverityNumber.WARN, SeverityNumber.FATAL]
    for (const severityNumber of numbers) provider.getLogger('').emit({ severityNumber })
    expect(captured.logs.map(({ level }) => level)).toEqual(['warn', 'fatal'])
  })

  it('say so where one cannot be read, and the others are exported', () => {
    using captured = captureSluice()
    const exporter = new SluiceLogRecordExporter()
    const unreadable = {
      get severityText(): string {
        throw new Error('boom')
      },
    }
    const provider = new LoggerProvider({
      processors: [
        processors.simple({
          export: (records, done) =>
            exporter.export(
              [Object.create(records[0]!, Object.getOwnPropertyDescriptors(unreadable)), ...records],
              done,
            ),
          forceFlush: async () => {},
          shutdown: async () => {},
        }),
      ],
    })
    provider.getLogger('').emit({ body: 'readable' })
    expect(captured.logs.map(({ message }) => message)).toEqual([expect.stringContaining('could not'), 'readable'])
  })
})

describe('an exporter', () => {
  it('ships from the level of setLevel on, and stays at its option under a name that nobody knows', () => {
    using captured = captureSluice()
    onTestFinished(() => setLevel(undefined))
    const processor = processors.simple(new SluiceLogRecordExporter({ level: 'warn' }))
    const logger = new LoggerProvider({ processors: [processor] }).getLogger('')
    const emit = (body: string) => {
      for (const severityNumber of [SeverityNumber.DEBUG, SeverityNumber.WARN]) logger.emit({ severityNumber, body })
    }
    emit('before')
    setLevel('debug')
    emit('debug')
    setLevel('loud')
    emit('loud')
    setLevel(undefined)
    emit('after')
    const lines = captured.logs.map(({ level, message }) => `${message}: ${level}`)
    expect(lines).toEqual(['before: warn', 'debug: debug', 'debug: warn', 'loud: warn', 'after: warn'])
  })

  it('refuses an unknown option and an unknown level where it is made', () => {
    const options = { ...receiver.options, maxConnectoins: 1 }
    expect(() => new SluiceLogRecordExporter(options)).toThrow(
      'unknown option maxConnectoins; did you mean maxConnections?',
    )
    expect(() => new SluiceLogRecordExporter({ level: 'lod' })).toThrow(ConfigError)
  })

  it('fails once the process has closed Sluice', async () => {
    const exporter = new SluiceLogRecordExporter({ ...receiver.options, appName: 'closed' })
    expect(exported(exporter).code).toBe(0)
    await close()
    expect(exported(exporter)).toMatchObject({
      code: 1,
      error: { message: expect.stringContaining('Sluice is closed') },
    })
  })
})
