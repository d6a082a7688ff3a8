import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { openSqlite } from '../../../packages/receiver/dist/storage/sqlite/database.js'
import { startTestReceiver, type TestReceiver } from '../../support/receiver.js'

const content = {
  'List content types': ['GET', '/ng-cms/content-types/demo'],
  'Delete a content type': ['DELETE', '/ng-cms/content-types/demo/article'],
  'Create a content entry': ['POST', '/ng-cms/content/demo/article', { fields: {} }],
  'Migrate a content entry': ['POST', '/ng-cms/content/demo/article/migrate', { fields: {} }],
} as const
const record = { timeStamp: 1, level: 'info', message: 'm', appName: 'contract' }
const generic = {
  'Create a log': ['POST', '/logs/demo', record],
  'Create a value tracking': ['POST', '/value_tracking/demo', { timeStamp: 1, eventId: 1, appName: 'contract' }],
} as const

/** A receiver of this process whose tables are dropped: no service at CONTRACT_URL fails on request. */
describe('500: Unexpected server error', () => {
  let data: string
  let receiver: TestReceiver
  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'sluice-contract-'))
    receiver = await startTestReceiver({ data })
    const database = openSqlite(join(data, 'receiver.sqlite'))
    for (const table of ['content_types', 'records']) database.exec(`DROP TABLE ${table}`)
    database.close()
  })
  afterAll(async () => {
    await receiver.close()
    await rm(data, { recursive: true })
  })
  afterEach(() => {
    vi.unstubAllEnvs()
  })

  const call = async ([method, path, body]: readonly [string, string, object?]) => {
    const response = await fetch(receiver.url + path, {
      method,
      headers: { 'x-api-key': receiver.apiKey, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    // biome-ignore lint/suspicious/noExplicitAny: what a service answers is what these tests find out.
    return { status: response.status, body: (await response.json()) as any }
  }
  const detail = { correlationId: expect.stringMatching(/.+/), message: expect.stringMatching(/.+/) }

  it.each(Object.entries(content))('%s: `success` false and `errors` list of ErrorDetail', async (_, request) => {
    const { status, body } = await call(request)
    expect({ status, body }).toEqual({
      status: 500,
      body: { success: false, errors: [{ ...detail, stack: expect.any(String) }] },
    })
  })

  it.each(Object.entries(generic))('%s: generic operations put details in `errors`', async (_, request) => {
    const { status, body } = await call(request)
    expect({ status, body }).toMatchObject({ status: 500, body: { validationErrors: [], errors: [detail] } })
    expect(body.result).not.toBe(true)
  })

  it('`correlationId`: unique trace id', async () => {
    const answers = [await call(content['List content types']), await call(content['List content types'])]
    expect(new Set(answers.map(({ body }) => body.errors[0].correlationId)).size).toBe(2)
  })

  it('`stack`: stack trace, present only outside production', async () => {
    vi.stubEnv('NODE_ENV', 'production')
    const hidden = [await call(content['List content types']), await call(generic['Create a log'])]
    for (const { body } of hidden) expect(body.errors).toEqual([detail])
    vi.stubEnv('NODE_ENV', 'development')
    const { body } = await call(content['List content types'])
    expect(body.errors).toEqual([{ ...detail, stack: expect.stringContaining('\n    at ') }])
  })
})
