import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LoggerProvider, SimpleLogRecordProcessor } from '@opentelemetry/sdk-logs'
import pino from 'pino'
import { close, createSluice, flush, type Ledger, stats, withContext } from 'sluice'
import { sluicePino } from 'sluice/pino'
import { SluiceTransport } from 'sluice/winston'
import { SluiceLogRecordExporter } from 'sluice-opentelemetry'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import winston from 'winston'
import { startTestReceiver, type TestReceiver } from '../../support/receiver.js'

const redact = { keys: ['default', '*pin'], patterns: ['card', 'email'] as const }
const secret = 'hunter2'
const line = { user: { name: 'Bob', Password: secret, cards: ['4111 1111 1111 1111'] }, 'X-Pin': { digits: secret } }
/** The keys in the order of winston's texts. */
const sorted = '"X-Pin":"[redacted]","user":{"Password":"[redacted]","cards":["[redacted]"],"name":"Bob"}'
const shown = '"user":{"name":"Bob","Password":"[redacted]","cards":["[redacted]"]},"X-Pin":"[redacted]"'

let receiver: TestReceiver
beforeEach(async () => {
  receiver = await startTestReceiver()
})
afterEach(() => receiver.close())

async function messages(): Promise<string[]> {
  return (await receiver.logs()).map(({ message }) => message)
}

describe('with redact, a hidden value is not sent', () => {
  it('by pino’s target', async () => {
    const transport = pino.transport({ target: 'sluice/pino', options: { ...receiver.options, redact } })
    const logger = pino(transport)
    logger.info(line, 'bob@example.com')
    logger.info({ user: 'Bob' }, 'nothing to hide')
    const { redacted } = await flush()
    // To end pino's transport blocks this thread, where the receiver runs, too.
    transport.end()
    expect(redacted).toBe(1)
    expect(await messages()).toEqual([`[redacted] {${shown}}`, 'nothing to hide {"user":"Bob"}'])
  })

  it.each(['worker', 'inline'] as const)('by sluicePino() and winston, mode %s, and is counted', async (mode) => {
    const before = stats()
    const options = { ...receiver.options, redact, mode }
    const stream = sluicePino(options)
    pino(stream).info(line, 'by pino')
    const transport = new SluiceTransport(options)
    winston.createLogger({ format: winston.format.json(), transports: [transport] }).info('as json', line)
    winston.createLogger({ format: winston.format.simple(), transports: [transport] }).info('as text', line)
    const failed = Object.assign(new Error('boom'), { token: secret })
    winston.createLogger({ format: winston.format.simple(), transports: [transport] }).error('failed', { err: failed })
    const after: Ledger = await close()
    expect(after.redacted - before.redacted).toBe(4)
    const logs = await messages()
    expect(logs).toHaveLength(4)
    expect(logs.join('\n')).not.toMatch(/hunter2|4111/)
    expect(logs.filter((message) => message.includes(shown))).toHaveLength(2)
    // winston's JSON has its keys in order.
    expect(logs).toContain(`as json {${sorted}}`)
  })

  it('in fields of withContext, nor by the exporter of OpenTelemetry', async () => {
    const options = { ...receiver.options, redact }
    const transport = new SluiceTransport(options)
    const stream = sluicePino(options)
    withContext({ user: 'Bob', token: secret, mail: 'bob@example.com' }, () => {
      pino(stream).info('by pino')
      winston.createLogger({ format: winston.format.json(), transports: [transport] }).info('as json')
      winston.createLogger({ format: winston.format.simple(), transports: [transport] }).info('as text')
    })
    const provider = new LoggerProvider({
      processors: [new SimpleLogRecordProcessor({ exporter: new SluiceLogRecordExporter(options) })],
    })
    provider.getLogger('shop').emit({ body: 'by otel', attributes: { token: secret, mail: 'bob@example.com' } })
    await flush()
    const logs = await messages()
    expect(logs).toHaveLength(4)
    expect(logs.join('\n')).not.toMatch(/hunter2|bob@/)
    expect(logs.filter((message) => message.includes('"token":"[redacted]","mail":"[redacted]"'))).toHaveLength(4)
  })

  it('by variables', async () => {
    const { SLUICE_REDACT, SLUICE_REDACT_PATTERNS } = process.env
    Object.assign(process.env, { SLUICE_REDACT: 'default, *pin', SLUICE_REDACT_PATTERNS: 'card,email' })
    const stream = sluicePino(receiver.options)
    pino(stream).info(line, 'bob@example.com')
    stream.end()
    await new Promise((closed) => stream.once('close', () => closed(undefined)))
    for (const [name, value] of Object.entries({ SLUICE_REDACT, SLUICE_REDACT_PATTERNS })) {
      if (value === undefined) delete process.env[name]
    }
    expect(await messages()).toEqual([`[redacted] {${shown}}`])
  })

  it('and never touches the disk, nor does the key', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-redaction-'))
    const url = receiver.url
    await receiver.close()
    const stream = sluicePino({ ...receiver.options, url, redact, spoolDir: folder })
    pino(stream).info(line, 'kept on disk')
    stream.end()
    await new Promise((closed) => stream.once('close', () => closed(undefined)))
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile())
    const text = files.map((file) => readFileSync(join(file.parentPath, file.name), 'utf8')).join('\n')
    expect(text).toContain('kept on disk')
    expect(text).not.toMatch(/hunter2|4111/)
    expect(text).not.toContain(receiver.options.apiKey)
    rmSync(folder, { recursive: true })
    receiver = await startTestReceiver()
  })
})

it('a mistake in redact names the option, and what is expected', () => {
  const patterns = ['cards'] as unknown as ['card']
  expect(() => createSluice({ ...receiver.options, redact: { patterns } })).toThrow(
    expect.objectContaining({
      code: 'SLUICE_CONFIG_INVALID',
      option: 'redact',
      message: expect.stringContaining('card, bearer, jwt, email, url-credentials'),
    }),
  )
})
