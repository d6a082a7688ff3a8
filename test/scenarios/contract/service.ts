import { randomUUID } from 'node:crypto'
import type { ContentTypeInfo, FieldDefinition } from 'sluice/content'
import { startTestReceiver } from '../../support/receiver.js'

export interface Answer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: what a service answers is what these tests find out.
  readonly body: any
}

export interface Call {
  readonly body?: unknown
  /** Headers beside `accept`, `content-type` and the credentials. A header that is undefined is left out. */
  readonly headers?: Readonly<Record<string, string | undefined>>
}

/** The service that the contract is checked against. */
export interface Service {
  readonly project: string
  readonly key: string
  /** For requests that the document shows with a bearer token. */
  readonly token: string
  /** A content type whose entries the tests make; undefined at a service where none may be made. */
  readonly type: ContentTypeInfo | undefined
  /** Operations of the receiver. `undefined` at another service. */
  readonly ours: Ours | undefined
  /** With the credentials that the document shows for the operation. */
  call(method: string, path: string, call?: Call): Promise<Answer>
  close(): Promise<void>
}

/** Operations that the API does not have, so that only the receiver has them. */
export interface Ours {
  /** Make a content type with a key of its own. */
  makeType(schema: readonly FieldDefinition[], project?: string): Promise<ContentTypeInfo>
  /** Make a project, which may have a plan that refuses content. */
  makeProject(plan?: { readonly content: boolean }): Promise<string>
  // biome-ignore lint/suspicious/noExplicitAny: see above.
  readEntry(type: string, id: string): Promise<any>
}

/** Fields of the types that tests make: one of each kind that the document shows. */
export const articleSchema: readonly FieldDefinition[] = [
  { key: 'title', label: 'Title', type: 'text', required: true, maxLength: 20 },
  { key: 'body', label: 'Body', type: 'richtext', required: false },
]

/**
 * The service at CONTRACT_URL, with CONTRACT_KEY, CONTRACT_PROJECT, and perhaps CONTRACT_TOKEN and CONTRACT_TYPE; without them a
 * receiver of this process.
 */
export async function startService(): Promise<Service> {
  const { CONTRACT_URL, CONTRACT_KEY: key, CONTRACT_PROJECT: project, CONTRACT_TYPE, CONTRACT_TOKEN } = process.env
  if (!CONTRACT_URL) {
    const { url, apiKey, project, close } = await startTestReceiver()
    return await connect({ url, key: apiKey, token: apiKey, project, close })
  }
  if (!key || !project) throw new Error('CONTRACT_URL needs CONTRACT_KEY and CONTRACT_PROJECT beside it')
  const url = CONTRACT_URL.replace(/\/+$/, '')
  return await connect({ url, key, token: CONTRACT_TOKEN || key, project, type: CONTRACT_TYPE, close: async () => {} })
}

interface Access extends Pick<Service, 'project' | 'key' | 'token' | 'close'> {
  readonly url: string
  /** Key of a type that is there. */
  readonly type?: string | undefined
}

async function connect({ url, type: typeKey, ...access }: Access): Promise<Service> {
  const { project } = access
  const call = caller(url, access)
  const described = await call('GET', '/api/openapi.json')
  const isOurs = described.status === 200 && JSON.stringify(described.body).includes('sluice-receiver')
  const ours = isOurs ? ourOperations(call, project) : undefined
  if (ours !== undefined) return { ...access, call, ours, type: await ours.makeType(articleSchema) }
  if (!typeKey) return { ...access, call, ours, type: undefined }
  const { body } = await call('GET', `/ng-cms/content-types/${project}?to=1000`)
  const type = (body.list as ContentTypeInfo[]).find(({ key }) => key === typeKey)
  if (type === undefined) throw new Error(`CONTRACT_TYPE: there is no content type ${typeKey} in ${project}`)
  return { ...access, call, ours, type }
}

function ourOperations(call: Service['call'], home: string): Ours {
  const name = (kind: string) => `${kind}-${randomUUID().slice(0, 8)}`
  const expectMade = ({ status, body }: Answer) => {
    if (status !== 200 && status !== 201) throw new Error(`set-up failed: ${status} ${JSON.stringify(body)}`)
    return body
  }
  return {
    async makeType(schema, project = home) {
      const displayField = schema[0]!.key
      const body = { key: name('type'), name: 'A type', description: 'made by the contract', displayField, schema }
      return expectMade(await call('POST', `/api/projects/${project}/content-types`, { body }))
    },
    async makeProject(plan) {
      const id = name('project')
      expectMade(await call('POST', '/api/projects', { body: { id } }))
      if (plan !== undefined) expectMade(await call('PUT', `/api/projects/${id}/plan`, { body: plan }))
      return id
    },
    readEntry: async (type, id) => expectMade(await call('GET', `/api/projects/${home}/content/${type}/${id}`)),
  }
}

function caller(url: string, { key, token }: Pick<Service, 'key' | 'token'>): Service['call'] {
  return async (method, path, { body, headers = {} } = {}) => {
    const shownWithToken = path.startsWith('/ng-cms/') && (method === 'DELETE' || path.endsWith('/migrate'))
    const all = {
      accept: 'application/json',
      ...(shownWithToken ? { authorization: `Bearer ${token}` } : { 'x-api-key': key }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    }
    const sent = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined)
    const response = await fetch(`${url}${path}`, {
      method,
      headers: sent,
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: readBody(text) }
  }
}

/** A body that is not JSON stays a text, which no test expects. */
function readBody(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Fields that satisfy a schema. */
export function validFields(schema: readonly FieldDefinition[]): Record<string, unknown> {
  const required = schema.filter((field) => field.required)
  return Object.fromEntries(required.map(({ key, type }) => [key, type === 'richtext' ? '<p>x</p>' : 'x']))
}
