import type { LogRecord, ValueRecord } from 'sluice'
import { type Receiver, type ReceiverOptions, startReceiver } from 'sluice-receiver'

type Stored<T> = T & { readonly id: number; readonly receivedAt: string }

/** The real receiver on a real port, with what tests ask of it. */
export interface TestReceiver extends Omit<Receiver, 'apiKey'> {
  readonly apiKey: string
  /** Options that deliver to it. */
  readonly options: { readonly url: string; readonly apiKey: string; readonly bucket: string }
  /** The same as variables. */
  readonly variables: Record<string, string>
  /** Everything that it holds, oldest first. */
  logs(query?: string): Promise<Stored<LogRecord>[]>
  values(query?: string): Promise<Stored<ValueRecord>[]>
}

export async function startTestReceiver(options: ReceiverOptions & { knownKey?: string } = {}): Promise<TestReceiver> {
  const { knownKey, ...rest } = options
  const receiver = await startReceiver({ port: 0, data: ':memory:', ...rest })
  const { url, project } = receiver
  const apiKey = receiver.apiKey ?? knownKey ?? ''
  const read = async <T>(kind: 'logs' | 'values', query: string): Promise<Stored<T>[]> => {
    const records: Stored<T>[] = []
    for (let before = ''; ; before = `&before=${records.at(-1)!.id}`) {
      const response = await fetch(`${url}/api/${kind}/${project}?limit=1000${query}${before}`, {
        headers: { 'x-api-key': apiKey },
      })
      if (response.status !== 200) throw new Error(`reading ${kind}: ${response.status} ${await response.text()}`)
      const { list } = (await response.json()) as { list: Stored<T>[] }
      if (list.length === 0) return records.reverse()
      records.push(...list)
    }
  }
  return {
    ...receiver,
    apiKey,
    options: { url, apiKey, bucket: project },
    variables: { SLUICE_URL: url, SLUICE_API_KEY: apiKey, SLUICE_BUCKET: project },
    logs: (query = '') => read<LogRecord>('logs', query),
    values: (query = '') => read<ValueRecord>('values', query),
  }
}
