import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { article, isoTime, refusal, startReceiverForTest } from './support.js'

let receiver: Awaited<ReturnType<typeof startReceiverForTest>>
let typeId: string
beforeEach(async () => {
  receiver = await startReceiverForTest()
  typeId = (await receiver.call('POST', '/api/projects/demo/content-types', article)).body.id
})
afterEach(() => receiver.close())

const path = '/ng-cms/content/demo/article'
const shown = '/api/projects/demo/content/article'
const created = { success: true, result: expect.any(String), errors: [] }

describe('POST /ng-cms/content/{projectId}/{typeKey}', () => {
  it('answers 201 with the id of an entry, which is a draft with the time of its making', async () => {
    const fields = { title: 'Title', body: '<p>Body</p>' }
    const { status, body } = await receiver.call('POST', path, { fields })
    expect({ status, body }).toEqual({ status: 201, body: created })
    const { body: entry } = await receiver.call('GET', `${shown}/${body.result}`)
    expect(entry).toEqual({
      id: body.result,
      projectId: 'demo',
      contentTypeId: typeId,
      contentTypeKey: 'article',
      schemaVersion: 1,
      state: 'Draft',
      fields,
      createdAt: isoTime,
      updatedAt: entry.createdAt,
      publishedAt: null,
    })
  })

  it('answers 404 to a type that is not there, and to the id of one', async () => {
    for (const key of ['nothing', typeId]) {
      const answer = await receiver.call('POST', `/ng-cms/content/demo/${key}`, { fields: { title: 'x' } })
      expect(answer).toMatchObject({ status: 404, body: refusal(key) })
    }
  })

  it('takes no times: they are for migration', async () => {
    const { status, body } = await receiver.call('POST', path, {
      fields: { title: 'x' },
      createdAt: '2020-01-01T00:00:00Z',
    })
    expect(status).toBe(400)
    expect(body).toMatchObject({ isValid: false, validationErrors: [{ name: 'createdAt' }] })
  })

  it.each([
    ['', 'body'],
    ['{', 'body'],
    ['[]', 'body'],
    ['null', 'body'],
    ['{}', 'fields'],
    ['{"fields":[]}', 'fields'],
  ])('answers 400 to a body of %j', async (sent, name) => {
    const { status, body } = await receiver.call('POST', path, sent)
    expect(status).toBe(400)
    expect(body).toEqual({ isValid: false, validationErrors: [expect.objectContaining({ name })] })
  })
})

describe('the fields of an entry', () => {
  it('fail all at once, one element for each failure', async () => {
    const fields = { summary: 7, body: `<script>${'x'.repeat(200)}`, colour: 'red', constructor: null }
    const { status, body } = await receiver.call('POST', path, { fields, extra: true })
    expect(status).toBe(400)
    expect(body).toEqual({
      isValid: false,
      validationErrors: [
        {
          name: 'extra',
          attemptedValue: true,
          message: expect.stringMatching(/^extra is not a field of a content entry/),
        },
        { name: 'title', attemptedValue: null, message: 'title is required' },
        { name: 'summary', attemptedValue: 7, message: 'summary must be text: a string' },
        { name: 'body', attemptedValue: fields.body, message: 'body must not have more than 200 characters' },
        { name: 'colour', attemptedValue: 'red', message: 'colour is not a field of this content type' },
        { name: 'constructor', attemptedValue: null, message: 'constructor is not a field of this content type' },
      ],
    })
    expect((await receiver.call('GET', shown)).body.total).toBe(0)
  })

  it.each([
    ['a required one of null', { title: null }, ['title is required']],
    ['an optional one of null', { title: 'x', summary: null }, ['summary must be text: a string']],
    ['a list', { title: ['x'] }, ['title must be text: a string']],
    ['one character too many', { title: 'x'.repeat(11) }, ['title must not have more than 10 characters']],
    ['one emoji too many', { title: '😀'.repeat(11) }, ['title must not have more than 10 characters']],
  ])('are refused for %s', async (_what, fields, messages) => {
    const { status, body } = await receiver.call('POST', path, { fields })
    expect(status).toBe(400)
    expect(body.validationErrors.map(({ message }: { message: string }) => message)).toEqual(messages)
  })

  it.each([['', 'x'.repeat(10), '😀'.repeat(10), '<b>& "x"', 'nul \u0000']].flat())(
    'may be the text %j',
    async (title) => {
      const { status, body } = await receiver.call('POST', path, { fields: { title } })
      expect(status).toBe(201)
      expect((await receiver.call('GET', `${shown}/${body.result}`)).body.fields).toEqual({ title })
    },
  )
})

describe('POST /ng-cms/content/{projectId}/{typeKey}/migrate', () => {
  const times = {
    createdAt: '2019-02-28T23:59:59Z',
    updatedAt: '2020-02-29T00:00:00.123456789Z',
    publishedAt: '2021-01-01T00:00:00+00:00',
  }

  it.each(['article', 'id'])('answers 201 and keeps the times as they were sent, by %s', async (by) => {
    const key = by === 'id' ? typeId : by
    const { status, body } = await receiver.call('POST', `/ng-cms/content/demo/${key}/migrate`, {
      fields: { title: 'x' },
      ...times,
    })
    expect({ status, body }).toEqual({ status: 201, body: created })
    const { body: entry } = await receiver.call('GET', `${shown}/${body.result}`)
    expect(entry).toMatchObject({ ...times, state: 'Published', fields: { title: 'x' } })
  })

  it('takes the present for the times that are left out, and makes a draft of what was never published', async () => {
    const only = { createdAt: times.createdAt }
    const { body } = await receiver.call('POST', `${path}/migrate`, { fields: { title: 'x' }, ...only })
    const { body: entry } = await receiver.call('GET', `${shown}/${body.result}`)
    expect(entry).toMatchObject({
      state: 'Draft',
      createdAt: times.createdAt,
      updatedAt: times.createdAt,
      publishedAt: null,
    })
    const { body: bare } = await receiver.call('POST', `${path}/migrate`, { fields: { title: 'x' } })
    expect((await receiver.call('GET', `${shown}/${bare.result}`)).body).toMatchObject({
      createdAt: isoTime,
      state: 'Draft',
    })
  })

  it('makes the entry in the type that contentTypeKey names, whatever the path says', async () => {
    await receiver.call('POST', '/api/projects/demo/content-types', {
      key: 'note',
      name: 'Note',
      schema: [{ key: 'line', label: 'Line', type: 'text', required: true }],
    })
    const { body: note } = await receiver.call('GET', '/ng-cms/content-types/demo?from=2')
    for (const contentTypeKey of ['note', note.list[0].id]) {
      for (const typeKey of ['article', 'nothing']) {
        const body = { fields: { line: 'x' }, contentTypeKey }
        expect((await receiver.call('POST', `/ng-cms/content/demo/${typeKey}/migrate`, body)).status).toBe(201)
      }
    }
    expect((await receiver.call('GET', '/api/projects/demo/content/note')).body.total).toBe(4)
    const wrong = await receiver.call('POST', `${path}/migrate`, { fields: { title: 'x' }, contentTypeKey: 'nothing' })
    expect(wrong).toMatchObject({ status: 404, body: refusal('nothing') })
  })

  it('answers 400 with the failures of the times and of the fields', async () => {
    const { status, body } = await receiver.call('POST', `${path}/migrate`, {
      fields: { colour: 'red' },
      createdAt: 'yesterday',
      updatedAt: 1_700_000_000_000,
      publishedAt: null,
    })
    expect(status).toBe(400)
    expect(body).toEqual({
      isValid: false,
      validationErrors: expect.arrayContaining([
        {
          name: 'createdAt',
          attemptedValue: 'yesterday',
          message: 'createdAt must be an ISO 8601 time in UTC, such as 2024-01-31T12:00:00Z',
        },
        { name: 'updatedAt', attemptedValue: 1_700_000_000_000, message: 'updatedAt must be string' },
        { name: 'publishedAt', attemptedValue: null, message: 'publishedAt must be string' },
        { name: 'title', attemptedValue: null, message: 'title is required' },
        { name: 'colour', attemptedValue: 'red', message: 'colour is not a field of this content type' },
      ]),
    })
    expect(body.validationErrors).toHaveLength(5)
  })

  it.each([
    '2020-02-30T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2020-04-31T00:00:00Z',
    '2016-12-31T23:59:60Z',
    '2020-01-01T00:00:00-00:00',
    '2020-01-01T00:00:00+0000',
    '2020-01-01T00:00:00.0123456789Z',
    '2020-01-01T00:00:00.Z',
    '2020-01-01t00:00:00z',
    '2020-01-01T00:00Z',
    '20200101T000000Z',
    '+012020-01-01T00:00:00Z',
    '2020-W01-3T00:00:00Z',
    '2020-01-01T00:00:00Z ',
    '2020-01-01T00:00:00Z\u0000',
    '2021-02-29T00:00:00Z',
    '2020-13-01T00:00:00Z',
    '2020-01-01T24:00:00Z',
    '2020-01-01T00:00:60Z',
    '2020-01-01T00:00:00+02:00',
    '2020-01-01T00:00:00',
    '2020-01-01 00:00:00Z',
    '2020-01-01',
    '',
  ])('does not take %j for a time', async (createdAt) => {
    const { status, body } = await receiver.call('POST', `${path}/migrate`, { fields: { title: 'x' }, createdAt })
    expect(status).toBe(400)
    expect(body.validationErrors).toMatchObject([{ name: 'createdAt', attemptedValue: createdAt }])
  })
})

describe('an entry that is sent again', () => {
  it.each(['', '/migrate'])('with the same idempotency key is made once, and has the same id (%s)', async (suffix) => {
    const send = (key: string) =>
      receiver.call('POST', `${path}${suffix}`, { fields: { title: 'x' } }, { 'idempotency-key': key })
    const first = await send('k-1')
    const again = await send('k-1')
    expect(again).toMatchObject({ status: 201, body: first.body })
    expect(again.headers.get('idempotency-key')).toBe('k-1')
    expect((await send('k-2')).body.result).not.toBe(first.body.result)
    expect((await receiver.call('GET', shown)).body.total).toBe(2)
  })
})

describe('an idempotency key of an entry', () => {
  const key = { 'idempotency-key': 'k' }
  const send = async (path: string, body: object = { fields: { title: 'x' } }) =>
    (await receiver.call('POST', `/ng-cms/content/demo/${path}`, body, key)).body.result

  it('belongs to its content type, however the request names it', async () => {
    const migrated = await send('article/migrate')
    expect(await send(`${typeId}/migrate`)).toBe(migrated)
    expect(await send('nothing/migrate', { fields: { title: 'x' }, contentTypeKey: 'article' })).toBe(migrated)
    expect(await send('article')).not.toBe(migrated)
    expect((await receiver.call('GET', shown)).body.total).toBe(2)
  })

  it('says nothing of an entry of another type that had the same key', async () => {
    const first = await send('article')
    await receiver.call('DELETE', `/ng-cms/content-types/demo/${typeId}`)
    expect((await receiver.call('POST', path, { fields: { title: 'x' } }, key)).status).toBe(404)
    await receiver.call('POST', '/api/projects/demo/content-types', article)
    expect(await send('article')).not.toBe(first)
    expect((await receiver.call('GET', shown)).body.total).toBe(1)
  })

  it('answers with the id of the first entry, even if the body has changed', async () => {
    const first = await send('article')
    expect(await send('article', { fields: { colour: 'red' } })).toBe(first)
  })
})

describe('GET /api/projects/{projectId}/content/{typeKey}', () => {
  it('lists the entries of the type, newest first, in pages', async () => {
    for (const title of ['1', '2', '3']) await receiver.call('POST', path, { fields: { title } })
    const titles = async (query: string) =>
      (await receiver.call('GET', `${shown}${query}`)).body.list.map(
        (entry: { fields: { title: string } }) => entry.fields.title,
      )
    expect(await titles('')).toEqual(['3', '2', '1'])
    expect(await titles('?from=2&to=1')).toEqual(['2'])
    expect((await receiver.call('GET', shown)).body.total).toBe(3)
  })

  it('answers 404 to an unknown type or entry', async () => {
    for (const elsewhere of [
      '/api/projects/demo/content/nothing',
      `${shown}/nothing`,
      '/api/projects/nothing/content/article',
    ]) {
      expect(await receiver.call('GET', elsewhere)).toMatchObject({ status: 404, body: refusal('nothing') })
    }
  })
})
