import { useEffect, useState } from 'preact/hooks'
import { messageOf, request } from '../api/requests.js'
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

const pageSize = 200

/** The entries of a content type, newest first. */
export function EntryList({ type, project }: { readonly type: ContentType; readonly project: string }) {
  const [entries, setEntries] = useState<readonly Entry[]>([])
  const [total, setTotal] = useState<number | undefined>(undefined)
  /** Where the next page starts. Entries that have come since then move it towards the end: it then begins with some that are here. */
  const [next, setNext] = useState(1)
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const read = async () => {
    const path = `/api/projects/${encodeURIComponent(project)}/content/${encodeURIComponent(type.key)}`
    try {
      const page = await request<{ total: number; list: Entry[] }>(`${path}?from=${next}&to=${pageSize}`)
      setEntries((before) => {
        const known = new Set(before.map(({ id }) => id))
        return [...before, ...page.list.filter(({ id }) => !known.has(id))]
      })
      setTotal(page.total)
      setNext(next + page.list.length)
      setProblem(undefined)
    } catch (error) {
      setProblem(messageOf(error))
    }
  }
  useEffect(() => void read(), [])
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
      {total !== undefined && next <= total && (
        <button type="button" class="quiet" onClick={() => void read()}>
          More
        </button>
      )}
    </section>
  )
}
