import { startTestReceiver } from '../support/receiver.js'

export interface Answer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: what a service answers is what these tests find out.
  readonly body: any
}

export interface Call {
  readonly body?: unknown
  /** Beside `accept` and `content-type`; a header that is undefined is left out. */
  readonly headers?: Readonly<Record<string, string | undefined>>
}

/** The service that the contract is checked against. */
export interface Service {
  readonly project: string
  readonly key: string
  call(method: string, path: string, call?: Call): Promise<Answer>
  /** Make a content type with a key of its own, in a project of its own when `project` names one; only where the service is ours. */
  readonly makeType: ((schema: readonly object[], project?: string) => Promise<ContentType>) | undefined
  /** Make a project, which may have a plan that refuses content; only where the service is ours. */
  readonly makeProject: ((plan?: { readonly content: boolean }) => Promise<string>) | undefined
  close(): Promise<void>
}

export interface ContentType {
  readonly id: string
  readonly key: string
  readonly projectId: string
}

/** Fields of the types that tests make: one of each kind that the document shows. */
export const articleSchema = [
  { key: 'title', label: 'Title', type: 'text', required: true, maxLength: 20 },
  { key: 'body', label: 'Body', type: 'richtext', required: false },
]

/**
 * Any service by CONTRACT_URL, CONTRACT_KEY and CONTRACT_PROJECT; without them our receiver. What needs a content type or a plan is
 * skipped elsewhere, for the API has no operation that makes them.
 */
export async function startService(): Promise<Service> {
  const { CONTRACT_URL: url, CONTRACT_KEY: key, CONTRACT_PROJECT: project } = process.env
  if (url !== undefined && url !== '') {
    if (!key || !project) throw new Error('CONTRACT_URL needs CONTRACT_KEY and CONTRACT_PROJECT beside it')
    return { project, key, call: caller(url, key), makeType: undefined, makeProject: undefined, close: async () => {} }
  }
  const receiver = await startTestReceiver()
  const call = caller(receiver.url, receiver.apiKey)
  let made = 0
  const expectMade = ({ status, body }: Answer) => {
    if (status !== 200 && status !== 201) throw new Error(`set-up failed: ${status} ${JSON.stringify(body)}`)
    return body
  }
  return {
    project: receiver.project,
    key: receiver.apiKey,
    call,
    async makeType(schema, project = receiver.project) {
      const { key: displayField } = schema[0] as { readonly key: string }
      const key = `type${++made}`
      const body = { key, name: `Type ${made}`, description: 'made by the contract', displayField, schema }
      const answer = expectMade(await call('POST', `/api/projects/${project}/content-types`, { body }))
      return answer.result ?? answer
    },
    async makeProject(plan) {
      const id = `project${++made}`
      expectMade(await call('POST', '/api/projects', { body: { id } }))
      if (plan !== undefined) expectMade(await call('PUT', `/api/projects/${id}/plan`, { body: plan }))
      return id
    },
    close: () => receiver.close(),
  }
}

function caller(url: string, key: string): Service['call'] {
  return async (method, path, { body, headers = {} } = {}) => {
    const all = {
      accept: 'application/json',
      'x-api-key': key,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    }
    const sent = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined)
    const response = await fetch(`${url.replace(/\/+$/, '')}${path}`, {
      method,
      headers: sent,
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) }
  }
}
