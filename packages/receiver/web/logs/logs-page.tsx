import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { LiveFeed } from '../api/live-feed.js'
import type { LogRecord, RecordPage } from '../api/records.js'
import { request } from '../api/requests.js'
import { useKeys } from '../shell/keys.js'
import { fullTime } from '../text/time.js'
import { visible } from '../text/visible.js'
import { go, view } from '../view/view.js'
import { Conditions } from './conditions.js'
import { EmptyState } from './empty-state.js'
import { Histogram } from './histogram.js'
import { LogCounts } from './log-counts.js'
import { LogList } from './log-list.js'
import { LogTable } from './log-table.js'
import { RecordDetails } from './record-details.js'
import { filterOf } from './record-filter.js'
import { groupedRows, plainRows } from './row-source.js'
import { Toolbar } from './toolbar.js'

const list = new LogList()
const counts = new LogCounts()
/** The record under the cursor. The details are of the record in the address. */
const cursor = signal<number | undefined>(undefined)

interface LogsProps {
  readonly feed: LiveFeed
  readonly bucket: string
}

export function LogsPage({ feed, bucket }: LogsProps) {
  const { text, levels, only, not, since, until, around, grouped, id } = view.value
  const choice = JSON.stringify({ text, levels, only, not, since, until })
  const written = useMemo(() => filterOf(view.value, Date.now()), [choice])
  // A search that cannot be understood leaves what the last one has found.
  const understood = useRef(written)
  if (written.problem === undefined) understood.current = written
  const filter = understood.current

  useEffect(() => void list.load({ bucket, filter, around }), [bucket, filter, around])
  useEffect(() => counts.load({ bucket, filter }), [bucket, filter])
  useEffect(() => {
    const logs = (records: readonly LogRecord[]) => {
      list.take(records)
      counts.take(records)
    }
    const gap = () => {
      void list.fillGap()
      counts.recount()
    }
    return feed.listen({ logs, gap })
  }, [feed])
  useEffect(() => holdSelections(), [])
  // A link to a record holds the list; a record that is open when the list begins to follow stays open.
  useEffect(() => {
    if (id !== undefined) {
      cursor.value = id
      list.stop('details')
    }
  }, [id])

  const source = useMemo(
    () => (grouped ? groupedRows(list.rows) : plainRows(list.rows, list.origin)),
    [list.version.value, grouped],
  )
  const close = () => go({ id: undefined }, { replace: true })
  const open = (record: number) => {
    cursor.value = record
    list.stop('details')
    go({ id: record }, { replace: true })
  }
  const move = (step: number) => {
    list.stop('cursor')
    const at = cursor.value === undefined ? -1 : source.indexOf(cursor.value)
    const next = at === -1 ? source.rows.length - 1 : Math.min(source.rows.length - 1, Math.max(0, at + step))
    const record = source.rows[next]
    if (record === undefined) return
    cursor.value = record.id
    if (view.value.id !== undefined) go({ id: record.id }, { replace: true })
  }
  useKeys({
    '/': () => document.querySelector<HTMLElement>('.search input')?.focus(),
    ' ': () => (list.hold.value === undefined ? list.stop('pause') : void list.follow()),
    j: () => move(1),
    k: () => move(-1),
    Enter: () => cursor.value !== undefined && open(cursor.value),
    Escape: close,
  })

  const chosen =
    text !== '' || levels.length + only.length + not.length > 0 || since !== undefined || until !== undefined
  const isEmpty = list.version.value > 0 && list.rows.length === 0 && !list.loading.value && list.complete.value
  if (isEmpty && !chosen && list.error.value === undefined) return <EmptyState bucket={bucket} />
  return (
    <div class="logs">
      <h1 class="unseen">Logs</h1>
      <Toolbar list={list} counts={counts} bucket={bucket} filter={filter} problem={written.problem} />
      <Conditions />
      <Histogram list={list} counts={counts} filter={filter} />
      <div class={id === undefined ? 'split' : 'split open'}>
        <div class="list">
          <SearchState />
          {isEmpty && filter.problem === undefined && (
            <Nothing hasWord={/(^|[\s(])[\p{L}\p{N}]+(?=[\s)]|$)/u.test(text)} />
          )}
          <LogTable list={list} source={source} current={cursor.value} onOpen={open} />
          <Waiting />
        </div>
        {id !== undefined && <OpenRecord id={id} bucket={bucket} onClose={close} />}
      </div>
    </div>
  )
}

function Nothing({ hasWord }: { readonly hasWord: boolean }) {
  const hint = list.hint.value
  return (
    <div class="nothing">
      <p>No record matches. New ones that match appear here.</p>
      {hint !== undefined && <p>{visible(hint)}</p>}
      {hint === undefined && hasWord && (
        <p>
          Search takes whole words: <code>check*</code> finds those that begin with <code>check</code>.
        </p>
      )}
    </div>
  )
}

function SearchState() {
  const { loading, complete, error, cutAt } = list
  if (error.value !== undefined) return <p class="problem">{error.value}</p>
  if (cutAt.value !== undefined) return <Further>{`Searched back to ${fullTime(cutAt.value)}.`}</Further>
  if (loading.value || complete.value || list.hold.value === undefined) {
    if (list.rows.length > 20 || complete.value || loading.value) return null
  }
  if (list.rows.length > 100) return null
  return <Further>Not all older records are searched.</Further>
}

function Further({ children }: { readonly children: ComponentChildren }) {
  return (
    <p class="bar">
      {children}{' '}
      <button type="button" class="quiet" disabled={list.loading.value} onClick={() => void list.loadOlder()}>
        Search further
      </button>
    </p>
  )
}

/** "N new": the only live region. The list itself is none: it would never be silent. */
function Waiting() {
  const count = list.waiting.value
  return (
    <div class="waiting" role="status">
      {count > 0 && (
        <button type="button" class="primary" onClick={() => void list.follow()}>
          {count.toLocaleString('en')} new
        </button>
      )}
    </div>
  )
}

const fetched = signal<LogRecord | undefined>(undefined)

function OpenRecord({ id, bucket, onClose }: { id: number; bucket: string; onClose: () => void }) {
  const loaded = list.version.value >= 0 ? list.rows.find((record) => record.id === id) : undefined
  const record = loaded ?? (fetched.value?.id === id ? fetched.value : undefined)
  useEffect(() => {
    if (loaded !== undefined) fetched.value = loaded
    else void fetchRecord(bucket, id)
  }, [bucket, id, loaded])
  return record === undefined ? null : <RecordDetails record={record} onClose={onClose} />
}

async function fetchRecord(bucket: string, id: number): Promise<void> {
  const path = `/api/logs/${encodeURIComponent(bucket)}?limit=1&before=${id + 1}`
  const [record] = (await request<RecordPage<LogRecord>>(path)).list
  if (record?.id === id) fetched.value = record
}

/** A person who selects text reads: the list stands still. */
function holdSelections(): () => void {
  const onChange = () => {
    const selection = getSelection()
    if (selection === null || selection.isCollapsed) return
    const node = selection.anchorNode
    const element = node instanceof Element ? node : node?.parentElement
    if (element?.closest('[role=table]')) list.stop('selection')
  }
  document.addEventListener('selectionchange', onChange)
  return () => document.removeEventListener('selectionchange', onChange)
}
