import { type Receiver, type ReceiverOptions, startReceiver } from 'sluice-receiver'
import { expect } from 'vitest'

export interface Answer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests compare the bodies with the API's document, field by field.
  readonly body: any
}

/** The receiver under test, and a client that sends requests unchanged. */
export async function startReceiverForTest(options: ReceiverOptions = {}) {
  const receiver = await startReceiver({ port: 0, data: ':memory:', ...options })
  return { ...receiver, call: caller(receiver) }
}

export function caller({ url, apiKey }: Pick<Receiver, 'url' | 'apiKey'>) {
  return async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(apiKey === null ? {} : { 'x-api-key': apiKey }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const { status, headers: answered } = response
    if (answered.get('content-type')?.startsWith('text/plain')) return { status, headers: answered, body: text }
    return { status, headers: answered, body: text === '' ? undefined : JSON.parse(text) }
  }
}

export const log = { timeStamp: 1_700_000_000_000, level: 'info', message: 'hello', appName: 'shop' }
export const value = { timeStamp: 1_700_000_000_000, eventId: 1001, appName: 'shop' }

/** Body of a new content type with one field of each kind. */
export const article = {
  key: 'article',
  name: 'Article',
  description: 'What is read',
  displayField: 'title',
  schema: [
    { key: 'title', label: 'Title', type: 'text', required: true, maxLength: 10 },
    { key: 'summary', label: 'Summary', type: 'text', required: false },
    { key: 'body', label: 'Body', type: 'richtext', required: false, maxLength: 200 },
  ],
}

export const isoTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
/** The body of 401, 404, 409 and 412. */
export const refusal = (message: string) => ({
  success: false,
  errors: [{ correlationId: expect.stringMatching(/^[\da-f-]{36}$/), message: expect.stringContaining(message) }],
})
