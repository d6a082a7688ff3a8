import { useEffect, useState } from 'preact/hooks'
import { request } from '../api/requests.js'
import { fullTime } from '../text/time.js'
import { oneLine, visible } from '../text/visible.js'
import type { ContentType } from './content-type.js'

interface Entry {
  readonly id: string
  readonly state: string
  readonly schemaVersion: number
  readonly fields: Readonly<Record<string, unknown>>
  readonly createdAt: string
  readonly updatedAt: string
  readonly publishedAt: string | null
}

const pageSize = 50

/** The entries of a content type, newest first. */
export function EntryList({ type, project }: { readonly type: ContentType; readonly project: string }) {
  const [entries, setEntries] = useState<readonly Entry[]>([])
  const [total, setTotal] = useState<number | undefined>(undefined)
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const read = async (from: number) => {
    const path = `/api/projects/${encodeURIComponent(project)}/content/${encodeURIComponent(type.key)}`
    try {
      const page = await request<{ total: number; list: Entry[] }>(`${path}?from=${from}&to=${from + pageSize - 1}`)
      setEntries((before) => [...before.slice(0, from - 1), ...page.list])
      setTotal(page.total)
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error))
    }
  }
  useEffect(() => void read(1), [])
  return (
    <section aria-label="Entries">
      <h2>Entries {total !== undefined && <span class="dim">{total.toLocaleString('en')}</span>}</h2>
      {problem !== undefined && <p class="problem">{problem}</p>}
      <ul class="entries">
        {entries.map((entry) => (
          <li key={entry.id} class="card">
            <details>
              <summary>
                <span class={`badge ${entry.state === 'Published' ? 'level-info' : 'level-debug'}`}>{entry.state}</span>
                <span class="title">{oneLine(String(entry.fields[type.displayField] ?? entry.id), 120)}</span>
                <time class="dim">{fullTime(Date.parse(entry.createdAt))}</time>
              </summary>
              <dl>
                {Object.entries(entry.fields).map(([key, value]) => (
                  <div key={key}>
                    <dt>{visible(key)}</dt>
                    <dd>
                      <pre>{visible(String(value))}</pre>
                    </dd>
                  </div>
                ))}
                <div>
                  <dt>id</dt>
                  <dd>{entry.id}</dd>
                </div>
                <div>
                  <dt>updatedAt</dt>
                  <dd>{fullTime(Date.parse(entry.updatedAt))}</dd>
                </div>
                {entry.publishedAt !== null && (
                  <div>
                    <dt>publishedAt</dt>
                    <dd>{fullTime(Date.parse(entry.publishedAt))}</dd>
                  </div>
                )}
              </dl>
            </details>
          </li>
        ))}
      </ul>
      {total !== undefined && entries.length < total && (
        <button type="button" class="quiet" onClick={() => void read(entries.length + 1)}>
          More
        </button>
      )}
    </section>
  )
}
