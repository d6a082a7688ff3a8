import { useEffect, useRef, useState } from 'preact/hooks'
import { visible } from '../text/visible.js'
import { addCondition } from '../view/view.js'
import { contextFacets, facets, loadFacets, maxContextRecords } from './facets.js'
import type { LogList } from './log-list.js'
import { contextPrefix, type RecordFilter } from './record-filter.js'

const named = [
  ['App', 'appName', 'apps'],
  ['Machine', 'machineName', 'machines'],
  ['Environment', 'env', 'envs'],
  ['Version', 'appVersion', 'versions'],
  ['Event', 'eventId', 'eventIds'],
] as const
const maxValues = 12

interface FilterMenuProps {
  readonly list: LogList
  readonly bucket: string
  readonly filter: RecordFilter
}

/** Values to filter by, with counts: of the record's fields, and of the context's fields that occur. */
export function FilterMenu({ list, bucket, filter }: FilterMenuProps) {
  const [open, setOpen] = useState(false)
  useEffect(() => {
    if (open) void loadFacets(bucket, filter.query)
  }, [open, bucket, filter])
  const menu = useRef<HTMLDetailsElement>(null)
  const close = () => {
    menu.current!.open = false
  }
  const context = open ? contextFacets(list.rows) : []
  return (
    <details class="menu" ref={menu} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Filters</summary>
      {open && (
        <div class="panel facets">
          <p class="dim">{sourceOf(filter)}</p>
          <div class="columns">
            {named.map(([title, field, key]) => {
              const counts = Object.entries(facets.value[key]).sort(([, a], [, b]) => b - a)
              return (
                <Facet key={field} title={title} field={field} counts={counts.slice(0, maxValues)} onChoose={close} />
              )
            })}
          </div>
          {context.length > 0 && (
            <p class="dim">
              Of the context: values of the newest {recordsOf(Math.min(list.rows.length, maxContextRecords))} that{' '}
              {list.rows.length === 1 ? 'is' : 'are'} loaded.
            </p>
          )}
          <div class="columns">
            {context.map(([path, counts]) => (
              <Facet key={path} title={path} field={contextPrefix + path} counts={counts} onChoose={close} />
            ))}
          </div>
        </div>
      )}
    </details>
  )
}

/** Which records have the values of the fields. */
function sourceOf({ isAsked }: RecordFilter): string {
  const counted = Object.values(facets.value.levels).reduce((sum, count) => sum + count, 0)
  const limits = isAsked ? '' : ' what the receiver looks up of this view'
  return `Values of the newest ${recordsOf(counted)} that ${counted === 1 ? 'matches' : 'match'}${limits}.`
}

function recordsOf(count: number): string {
  return `${count.toLocaleString('en')} ${count === 1 ? 'record' : 'records'}`
}

interface FacetProps {
  readonly title: string
  readonly field: string
  readonly counts: readonly (readonly [string, number])[]
  readonly onChoose: () => void
}

function Facet({ title, field, counts, onChoose }: FacetProps) {
  if (counts.length === 0) return null
  return (
    <section aria-label={title}>
      <h2>{visible(title)}</h2>
      <ul>
        {counts.map(([value, count]) => (
          <li key={value}>
            <button
              type="button"
              class="choice"
              onClick={() => {
                addCondition('only', { field, value })
                onChoose()
              }}
            >
              <span class="value">{visible(value.slice(0, 80))}</span> <span class="dim">{count}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
