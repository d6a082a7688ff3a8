import { createRequire } from 'node:module'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { dataFolder } from './data-folder.js'
import { log, refusal, startReceiverForTest } from './support.js'

const data = dataFolder()
let receiver: Awaited<ReturnType<typeof startReceiverForTest>>
beforeEach(async () => {
  receiver = await startReceiverForTest({ data: data.path })
  sabotage('records')
})
afterEach(async () => {
  delete process.env.NODE_ENV
  await receiver.close()
})

/** Removes a table: no request is to blame for the failure that follows. */
function sabotage(table: string): void {
  data.inDatabase((database) => database.exec(`DROP TABLE ${table}`))
}

describe('an unexpected error', () => {
  it('is 500 with a correlation id and, outside production, the stack', async () => {
    process.env.NODE_ENV = 'development'
    const { status, body, headers } = await receiver.call('POST', '/logs/demo', log)
    expect(status).toBe(500)
    expect(body).toMatchObject({ success: false, result: false, validationErrors: [] })
    expect(body.errors).toEqual([
      {
        correlationId: headers.get('x-correlation-id'),
        message: expect.stringContaining('records'),
        stack: expect.stringContaining('\n    at '),
      },
    ])
  })

  it('of a content operation is an ApiResponse', async () => {
    sabotage('content_types')
    const { status, body, headers } = await receiver.call('GET', '/ng-cms/content-types/demo')
    const correlationId = headers.get('x-correlation-id')
    const message = expect.stringContaining('content_types')
    expect({ status, body }).toEqual({
      status: 500,
      body: { success: false, errors: [{ correlationId, message, stack: expect.any(String) }] },
    })
  })

  it('is told on stderr in one line, without the key and the token of the request', async () => {
    const told: string[] = []
    const write = vi.spyOn(process.stderr, 'write').mockImplementation((text) => told.push(String(text)) > 0)
    const path = `/logs/demo?key=${receiver.apiKey}&token=secret`
    const { status, headers } = await receiver.call('POST', path, log).finally(() => write.mockRestore())
    expect(status).toBe(500)
    const id = headers.get('x-correlation-id')
    const line = told.find((each) => each.includes(String(id)))
    expect(line).toMatch(/^sluice-receiver: POST \/logs\/demo\?key=slk_… failed \(\S+\): [^\p{Cc}]+\n$/u)
    expect(told.join('')).not.toContain(receiver.apiKey)
  })

  it('shows neither stack nor cause in production', async () => {
    process.env.NODE_ENV = 'production'
    const { status, body } = await receiver.call('POST', '/logs/demo', log)
    expect(status).toBe(500)
    expect(body.errors).toEqual([{ correlationId: expect.any(String), message: 'unexpected server error' }])
  })
})

describe('GET /api/ready', () => {
  it('is 503 when the store cannot be used', async () => {
    sabotage('keys')
    expect(await receiver.call('GET', '/api/ready')).toMatchObject({ status: 503, body: refusal('no such table') })
    expect(await receiver.call('GET', '/api/health')).toMatchObject({ status: 200, body: { status: 'ok' } })
  })
})

describe('the SQLite of the receiver', () => {
  it('comes with its binaries, so that the installation compiles nothing', () => {
    const require = createRequire(import.meta.url)
    expect(() => require('@photostructure/sqlite')).not.toThrow()
  })
})
