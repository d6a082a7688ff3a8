import type { ContentTypeInfo, FieldDefinition } from 'sluice/content'
import type { TestReceiver } from './receiver.js'

/** An entry as the receiver keeps it. */
export interface KeptEntry {
  readonly id: string
  readonly state: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly createdAt: string
  readonly updatedAt: string
  readonly publishedAt: string | null
}

const articleSchema: readonly FieldDefinition[] = [
  { key: 'title', label: 'Title', type: 'text', required: true, maxLength: 40 },
  { key: 'body', label: 'Body', type: 'richtext', required: false },
]

/** The content of a receiver's project, by operations that are the receiver's own. */
export class ReceiverContent {
  readonly #receiver: Pick<TestReceiver, 'url' | 'apiKey' | 'project'>

  constructor(receiver: Pick<TestReceiver, 'url' | 'apiKey' | 'project'>) {
    this.#receiver = receiver
  }

  /** @default a type with a title of at most 40 characters, which is required, and a body */
  makeType(key: string, schema = articleSchema): Promise<ContentTypeInfo> {
    return this.#ask('POST', 'content-types', { key, name: key, description: '', displayField: schema[0]!.key, schema })
  }

  setPlan(content: boolean): Promise<unknown> {
    return this.#ask('PUT', 'plan', { content })
  }

  /** Oldest first. */
  async entries(type: string): Promise<KeptEntry[]> {
    const all: KeptEntry[] = []
    for (;;) {
      const page = await this.#ask<{ total: number; list: KeptEntry[] }>(
        'GET',
        `content/${type}?from=${all.length + 1}&to=1000`,
      )
      all.push(...page.list)
      if (all.length >= page.total) return all.reverse()
    }
  }

  async #ask<T>(method: string, path: string, body?: object): Promise<T> {
    const { url, project, apiKey } = this.#receiver
    const response = await fetch(`${url}/api/projects/${project}/${path}`, {
      method,
      headers: { 'x-api-key': apiKey, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as T
  }
}
