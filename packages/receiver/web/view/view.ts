import { signal } from '@preact/signals'
import { quoted } from '../../src/query/written-query.js'

export const pages = ['logs', 'errors', 'values', 'account', 'rejected', 'content'] as const
export type PageName = (typeof pages)[number]

/** A field and the value that it must have, or must not have. `field` is a record's field, or `context.` and a path. */
export interface Condition {
  readonly field: string
  readonly value: string
}

/** All that the address says: a link is a view. */
export interface View {
  readonly page: PageName
  readonly bucket: string | undefined
  /** A search in the language of queries. */
  readonly text: string
  readonly levels: readonly string[]
  readonly only: readonly Condition[]
  readonly not: readonly Condition[]
  /** A time in ISO 8601, or `-15m` for the last 15 minutes (`m`, `h` and `d`). */
  readonly since: string | undefined
  readonly until: string | undefined
  /** The record that is open. */
  readonly id: number | undefined
  /** The record around which lines are shown; undefined follows the newest. */
  readonly around: number | undefined
  readonly grouped: boolean
  /** The event whose values are shown. */
  readonly event: number | undefined
  /** The content type that is open. */
  readonly type: string | undefined
}

/** The view that an address such as `#logs?level=error` means. */
export function parseView(hash: string): View {
  const [name, query = ''] = hash.replace(/^#/, '').split(/\?(.*)/s)
  const words = new URLSearchParams(query)
  const text = (key: string) => words.get(key) || undefined
  const number = (key: string) => (/^\d+$/.test(words.get(key) ?? '') ? Number(words.get(key)) : undefined)
  const page = pages.find((known) => known === name) ?? 'logs'
  return {
    page,
    bucket: text('bucket'),
    text: text('q') ?? queryOfWords(text('text') ?? ''),
    levels: words.getAll('level'),
    only: words.getAll('only').map(conditionOf),
    not: words.getAll('not').map(conditionOf),
    since: text('since'),
    until: text('until'),
    id: number('id'),
    around: number('around'),
    grouped: words.has('grouped'),
    event: /^-?[\d.]+$/.test(text('event') ?? '') ? Number(text('event')) : undefined,
    type: text('type'),
  }
}

/** The address of a view. */
export function hashOf(view: View): string {
  const words = new URLSearchParams()
  const add = (key: string, value: string | number | undefined) => {
    if (value !== undefined && value !== '') words.append(key, String(value))
  }
  add('bucket', view.bucket)
  add('q', view.text)
  for (const level of view.levels) add('level', level)
  for (const { field, value } of view.only) words.append('only', `${field}:${value}`)
  for (const { field, value } of view.not) words.append('not', `${field}:${value}`)
  add('since', view.since)
  add('until', view.until)
  add('id', view.id)
  add('around', view.around)
  if (view.grouped) add('grouped', 1)
  add('event', view.event)
  add('type', view.type)
  const query = words.toString()
  return query === '' ? `#${view.page}` : `#${view.page}?${query}`
}

/** Older addresses have words as their search, and words after a minus that must not be there. Other signs had no meaning. */
function queryOfWords(written: string): string {
  return written
    .split(/\s+/)
    .map((word) => {
      const [, minus = '', text = ''] = /^(-?)(.*)$/s.exec(word) ?? []
      if (!/[\p{L}\p{N}]/u.test(text)) return ''
      const isPlain = /^[\p{L}\p{N}][\p{L}\p{N}._/-]*$/u.test(text) && !/^(?:AND|OR|NOT)$/.test(text)
      return minus + (isPlain ? text : quoted(text))
    })
    .filter((word) => word !== '')
    .join(' ')
}

function conditionOf(written: string): Condition {
  const colon = written.indexOf(':')
  return { field: written.slice(0, colon), value: written.slice(colon + 1) }
}

export const view = signal<View>(parseView(location.hash))

window.addEventListener('hashchange', () => {
  view.value = parseView(location.hash)
})

/** Changes the view and the address. With `replace` the step back leads to the view before. */
export function go(change: Partial<View>, { replace = false } = {}): void {
  const next = { ...view.value, ...change }
  const hash = hashOf(next)
  if (hash === hashOf(view.value)) return
  if (replace) history.replaceState(null, '', hash)
  else history.pushState(null, '', hash)
  view.value = next
}

window.addEventListener('popstate', () => {
  view.value = parseView(location.hash)
})

/** The address of another page for the same bucket. */
export function linkTo(page: PageName): string {
  return hashOf({ ...parseView(`#${page}`), bucket: view.value.bucket })
}

/** Shows only records with this value, or none with it. */
export function addCondition(kind: 'only' | 'not', condition: Condition): void {
  const { field, value } = condition
  const rest = view.value[kind].filter((other) => other.field !== field || (kind === 'not' && other.value !== value))
  go({ [kind]: [...rest, condition], around: undefined, id: undefined })
}

export function removeCondition(kind: 'only' | 'not', condition: Condition): void {
  go({ [kind]: view.value[kind].filter((other) => other !== condition) })
}
