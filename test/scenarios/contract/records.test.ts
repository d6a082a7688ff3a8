import { afterAll, describe, expect, it } from 'vitest'
import { startService } from './service.js'

const service = await startService()
afterAll(() => service.close())

const log = { timeStamp: 1_700_000_000_000, level: 'error', message: 'boom', appName: 'shop' }
const optional = {
  machineName: 'web-1',
  eventId: 7,
  env: 'test',
  appVersion: '1.2.3',
  runtimeVersion: 'v20.0.0',
  runtime: 1,
}
const value = { timeStamp: 1_700_000_000_000, eventId: 1001, appName: 'shop' }
const { machineName: _machine, eventId: _event, ...optionalOfValue } = optional

const kinds = {
  'Create a log': {
    path: `/logs/${service.project}`,
    record: log,
    optional,
    required: ['timeStamp', 'level', 'message', 'appName'],
  },
  'Create a value tracking': {
    path: `/value_tracking/${service.project}`,
    record: value,
    optional: optionalOfValue,
    required: [],
  },
} as const

const types: Record<string, unknown> = {
  timeStamp: 'now',
  level: 3,
  message: { text: 'boom' },
  appName: 7,
  machineName: 7,
  eventId: '7',
  env: true,
  appVersion: 1.2,
  runtimeVersion: 20,
  runtime: 'node',
}

describe.each(Object.entries(kinds))('%s', (_, { path, record, optional: rest, required }) => {
  it('201: body GenericResultResponse<bool> with `result` true', async () => {
    const { status, body } = await service.call('POST', path, { body: record })
    expect(status).toBe(201)
    expect(body).toEqual({ result: true, validationErrors: [], errors: [] })
  })

  it('Request body: the record fields in Resources, all of them', async () => {
    const { status, body } = await service.call('POST', path, { body: { ...record, ...rest } })
    expect({ status, result: body.result }).toEqual({ status: 201, result: true })
  })

  it.each(Object.keys(rest))('Request body: %s is not required', async (field) => {
    const { [field as keyof typeof rest]: _left, ...others } = rest
    expect((await service.call('POST', path, { body: { ...record, ...others } })).status).toBe(201)
  })

  it.each(required)('required: %s; 400: validation details in `validationErrors`', async (field) => {
    const { [field as keyof typeof record]: _left, ...others } = record
    const { status, body } = await service.call('POST', path, { body: others })
    expect(status).toBe(400)
    expect(body.validationErrors).toContainEqual(
      expect.objectContaining({ name: field, message: expect.stringMatching(/.+/) }),
    )
  })

  it.each(Object.keys({ ...record, ...rest }))('%s has the type of the table, else 400', async (field) => {
    const { status, body } = await service.call('POST', path, { body: { ...record, [field]: types[field] } })
    expect(status).toBe(400)
    expect(body.validationErrors.map(({ name }: { name: string }) => name)).toEqual([field])
    expect(body.validationErrors[0].attemptedValue).toEqual(types[field])
  })

  it('400: GenericResultResponse with `validationErrors` filled, one entry for each failure', async () => {
    const body = { ...record, appName: 1, timeStamp: 'x' }
    const answer = await service.call('POST', path, { body })
    expect(answer.status).toBe(400)
    expect(answer.body.validationErrors.map(({ name }: { name: string }) => name).sort()).toEqual([
      'appName',
      'timeStamp',
    ])
    expect(Array.isArray(answer.body.errors)).toBe(true)
    expect(answer.body.result).not.toBe(true)
  })

  it.skipIf(service.ours === undefined)('Path parameter: `bucketId`; here 404 for one that is not there', async () => {
    const { status } = await service.call('POST', path.replace(service.project, 'no-such-project'), { body: record })
    expect(status).toBe(404)
  })
})

describe('The words project and bucket', () => {
  it('name the same container', async () => {
    for (const { path, record } of Object.values(kinds)) {
      expect(path.endsWith(service.project)).toBe(true)
      expect((await service.call('POST', path, { body: record })).status).toBe(201)
    }
  })
})

describe('Create a value tracking', () => {
  it.skipIf(service.ours === undefined)(
    'A sample request carries different fields (name, slug, section, imageUrl): here they are refused, each by its name',
    async () => {
      const body = { name: 'a', slug: 'b', section: 'c', imageUrl: 'd' }
      const answer = await service.call('POST', kinds['Create a value tracking'].path, { body })
      expect(answer.status).toBe(400)
      const names = answer.body.validationErrors.map(({ name }: { name: string }) => name)
      expect(names).toEqual(expect.arrayContaining(Object.keys(body)))
    },
  )
})
