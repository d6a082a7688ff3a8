import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { full, rowsOf } from '../support/full.js'
import { startProgram } from '../support/programs.js'
import { Project } from '../support/project.js'
import { startTestReceiver } from '../support/receiver.js'
import { readMarkdown, root, userDocuments } from './markdown.js'

interface ExpectedPage {
  /** The packages that the program had before. */
  readonly before: readonly string[]
  /** The records that arrive after. */
  readonly log: object
  readonly value?: object
  /** Lines of a recipe of the table, which follow the program, and the log record that they make. */
  readonly more?: { readonly code: string; readonly log: object }
}

const orderPlaced = { eventId: 1001, appName: 'shop' }
const counted = {
  log: { ...orderPlaced, level: 'info', message: 'order placed {"userId":"u-7","orderId":"o-1"}' },
  value: orderPlaced,
}
const logged = { level: 'info', appName: 'shop', message: 'order placed {"orderId":7}' }
const labelled = { appName: 'shop', message: 'placed there {"region":"eu"}' }

/** By the name of the page. */
const pages: Readonly<Record<string, ExpectedPage>> = {
  'opentelemetry.md': {
    before: ['@opentelemetry/api-logs', '@opentelemetry/sdk-logs', '@opentelemetry/exporter-logs-otlp-http'],
    log: { level: 'info', message: 'order placed {"orderId":7,"scope":"checkout"}' },
  },
  'pino-loki.md': {
    before: ['pino@10', 'pino-loki@3'],
    log: logged,
    more: { code: "logger.child({ region: 'eu' }).info('placed there')", log: labelled },
  },
  'posthog.md': { before: ['posthog-node@5'], ...counted },
  'segment.md': { before: ['@segment/analytics-node@3'], ...counted },
  'winston-loki.md': {
    before: ['winston@3', 'winston-loki@6'],
    log: logged,
    more: {
      code: `winston.createLogger({ defaultMeta: { region: 'eu' }, transports: [new SluiceTransport({ appName: 'shop' })] }).info('placed there')`,
      log: labelled,
    },
  },
}

const paths = userDocuments.filter((path) => path.startsWith('docs/coming-from/'))
const expected = (path: string) => pages[basename(path)]!

/** The program before or after the change. */
function program(path: string, side: '-' | '+'): string {
  const changes = readMarkdown(path).blocks.filter(({ language }) => language === 'diff')
  expect(changes).toHaveLength(1)
  const lines = changes[0]!.text.split('\n').filter((line) => line.startsWith(side) || !/^[+-]/.test(line))
  return lines.map((line) => line.slice(1)).join('\n')
}

describe('the pages for those who come from elsewhere', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-coming-from-'))
    mkdirSync(join(folder, 'src'))
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    writeFileSync(join(folder, 'package.json'), '{ "name": "shop", "version": "1.0.0", "type": "module" }')
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  it('are all tried', () => {
    expect(paths.map((path) => basename(path))).toEqual(Object.keys(pages))
  })

  it.each(paths)('have a table of options and say what is different: %s', (path) => {
    const { rows, anchors } = readMarkdown(path)
    expect(Object.values(rows).flat().length).toBeGreaterThan(8)
    expect(anchors).toContain('what-is-different')
  })

  it.each(rowsOf(paths, (path) => path === paths[0]))(
    'change a program into one that sends to Sluice: %s',
    async (path) => {
      const receiver = await startTestReceiver()
      const { log, value, more } = expected(path)
      const file = join(folder, 'src', `${basename(path)}.js`)
      writeFileSync(file, `${program(path, '+')}\n${more?.code ?? ''}\n`)
      const run = () => startProgram(file, { variables: receiver.variables }).ended
      expect(await run()).toMatchObject({ code: 0, stdout: '', stderr: '' })
      expect(await receiver.logs()).toMatchObject([log, ...(more === undefined ? [] : [more.log])])
      const values = value === undefined ? [] : [value]
      expect(await receiver.values()).toMatchObject(values)
      if (value !== undefined) {
        // The event with this key counts once.
        expect(await run()).toMatchObject({ code: 0, stdout: '', stderr: '' })
        expect([await receiver.logs(), await receiver.values()]).toMatchObject([[log, log], values])
      }
      await receiver.close()
    },
    30_000,
  )

  it.runIf(full)(
    'send from the SDK of OpenTelemetry straight to the receiver, with its exporter as it was',
    async () => {
      const receiver = await startTestReceiver()
      const file = join(folder, 'src', 'straight.js')
      writeFileSync(file, program('docs/coming-from/opentelemetry.md', '-'))
      const variables = {
        OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: `${receiver.url}/otlp/${receiver.project}/v1/logs`,
        OTEL_EXPORTER_OTLP_HEADERS: `x-api-key=${receiver.apiKey}`,
      }
      expect(await startProgram(file, { variables }).ended).toMatchObject({ code: 0, stderr: '' })
      expect(await receiver.logs()).toMatchObject([expected('opentelemetry.md').log])
      await receiver.close()
    },
  )

  it.runIf(full).each(paths)(
    'change a program that really sends to the other service: %s',
    async (path) => {
      let answered = (): void => {}
      const request = new Promise<void>((resolve) => {
        answered = resolve
      })
      const server = createServer((incoming, response) => {
        response.setHeader('content-type', 'application/json')
        incoming.resume().on('end', () => response.end('{}', answered))
      }).listen(0, '127.0.0.1')
      await once(server, 'listening')
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      const project = new Project({ type: 'module' })
      await project.install(...expected(path).before)
      project.write('before.js', program(path, '-'))
      const variables = {
        LOKI_URL: url,
        SEGMENT_KEY: 'key',
        SEGMENT_HOST: url,
        POSTHOG_KEY: 'key',
        POSTHOG_HOST: url,
        OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: `${url}/v1/logs`,
      }
      const running = startProgram(join(project.folder, 'before.js'), { variables })
      // winston-loki keeps its process alive.
      const failed = running.ended.then((end) => Promise.reject(new Error(`no request: ${JSON.stringify(end)}`)))
      await Promise.race([request, failed])
      failed.catch(() => {})
      running.process.kill('SIGKILL')
      await running.ended
      project.remove()
      server.close()
    },
    120_000,
  )
})
