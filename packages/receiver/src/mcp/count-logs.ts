import { Type } from '@sinclair/typebox'
import type { CountedStep, RecordCounts } from '../client/record-counts.js'
import { Answer } from './answer.js'
import { countsOf, countsText, gapsOf, pairsOf, stepsBefore } from './counted.js'
import { parameters, queryOf } from './parameters.js'
import { named } from './quoted-data.js'
import { hintLine } from './record-line.js'
import { type Body, type Receiver, tool } from './tool.js'

const description = `Count log records by level, app, env, version or host, with the time of the last one of each; with step also over time, newest first.
For "when did it begin" count with a step. For "which version" count by version with q level>=error.`

/** By what records are counted beside their level: the field of the API's facets, and its filter. */
const fields = {
  app: { facet: 'apps', filter: 'appName' },
  env: { facet: 'envs', filter: 'env' },
  version: { facet: 'versions', filter: 'appVersion' },
  host: { facet: 'machines', filter: 'machineName' },
} as const
type By = keyof typeof fields

export const countLogs = tool({
  name: 'count_logs',
  title: 'Count logs',
  description,
  input: Type.Object({
    q: parameters.q,
    by: Type.Optional(
      Type.Unsafe<By | 'level'>({
        type: 'string',
        enum: ['level', ...Object.keys(fields)],
        default: 'level',
        description: 'The field to count by, level unless it is said',
      }),
    ),
    step: parameters.step,
    cursor: parameters.timeCursor,
  }),
  reads: 'logs',
  async answer({ q, by = 'level', step, cursor }, receiver) {
    const asked = { q, step }
    const { counts, notes } =
      by === 'level'
        ? { counts: await countsBy({}, asked, receiver), notes: [] }
        : await countsOfField(by, asked, receiver)
    return answerOf(counts, { title: `Log records by ${by}`, cursor, notes })
  },
})

/** Counts with their steps, or the steps that follow. */
export function answerOf(
  counts: RecordCounts,
  {
    title,
    cursor,
    notes = [],
    nameOf = named,
  }: {
    readonly title: string
    readonly cursor: string | undefined
    readonly notes?: readonly string[]
    nameOf?(value: string): string
  },
): string {
  const { total, totals, lastSeen, list } = counts
  const answer = new Answer(`${title}, ${total} in all:`)
  const last = [...gapsOf(counts), ...notes, hintLine(counts.hint)]
  if (cursor === undefined) {
    for (const [value, count] of pairsOf(totals)) {
      const seen = lastSeen[value] === undefined ? '' : `, last ${lastSeen[value]}`
      if (!answer.add(`${nameOf(value)} ${count}${seen}`)) {
        return answer.text(undefined, ...last, 'Rarer values are left out: narrow the question.')
      }
    }
  }
  if (list === undefined) return answer.text(undefined, ...last)
  if (cursor === undefined) answer.add('by time, newest first; steps without records are left out:')
  let next: string | undefined
  for (const { time, counts } of stepsBefore(list, cursor)) {
    if (!answer.add(`${time} ${countsText(counts, { nameOf })}`)) return answer.text(next ?? time, ...last)
    next = time
  }
  return answer.text(undefined, ...last)
}

interface Asked {
  readonly q: string | undefined
  readonly step: string | undefined
}

async function countsBy(
  filter: Readonly<Record<string, string>>,
  asked: Asked,
  { ask, bucket }: Receiver,
): Promise<RecordCounts> {
  return countsOf(await ask(`/api/logs/${bucket}/counts${queryOf({ ...asked, ...filter })}`))
}

/** The API counts by level alone. It is asked for each of the frequent values. */
async function countsOfField(
  by: By,
  asked: Asked,
  receiver: Receiver,
): Promise<{ readonly counts: RecordCounts; readonly notes: readonly string[] }> {
  const { facet, filter } = fields[by]
  const facets = await receiver.ask(
    `/api/facets/logs${queryOf({ bucket: decodeURIComponent(receiver.bucket), q: asked.q })}`,
  )
  const values = pairsOf(facetOf(facets, facet)).map(([value]) => value)
  // Their answer says why there are none.
  if (values.length === 0) return { counts: await countsBy({}, asked, receiver), notes: [] }
  const frequent = values.slice(0, maxValues)
  const merged = new Merged(by)
  const untilMs = performance.now() + maxMs
  let left = values.length
  for (const value of frequent) {
    if (performance.now() > untilMs) break
    merged.add(value, await countsBy({ [filter]: value }, asked, receiver))
    left--
  }
  const notes = [
    `Each ${by} of the newest 10,000 such records is counted; others are not.`,
    ...(left === 0 ? [] : [`${left} rarer values are left out: narrow q to see them.`]),
  ]
  return { counts: merged.counts(asked.step !== undefined), notes }
}

/** The values of a field in the newest records, with their counts. */
export function facetOf(facets: Body, name: string): Readonly<Record<string, number>> {
  return (facets as Readonly<Record<string, Readonly<Record<string, number>>>>)[name] ?? {}
}

/** Counts by level of several values become counts by value. */
class Merged {
  readonly #by: By
  readonly #totals: Record<string, number> = Object.create(null)
  readonly #lastSeen: Record<string, string> = Object.create(null)
  readonly #steps = new Map<string, Record<string, number>>()
  #countedSince: string | undefined

  constructor(by: By) {
    this.#by = by
  }

  add(value: string, { total, lastSeen, list = [], countedSince }: RecordCounts): void {
    this.#totals[value] = total
    const last = Object.values(lastSeen).sort().at(-1)
    if (last !== undefined) this.#lastSeen[value] = last
    for (const { time, counts } of list) {
      const step = this.#steps.get(time) ?? Object.create(null)
      step[value] = Object.values(counts).reduce((sum, count) => sum + count, 0)
      this.#steps.set(time, step)
    }
    if (countedSince !== undefined && countedSince > (this.#countedSince ?? '')) this.#countedSince = countedSince
  }

  counts(hasSteps: boolean): RecordCounts {
    const list: CountedStep[] = [...this.#steps].map(([time, counts]) => ({ time, counts }))
    list.sort((a, b) => (a.time < b.time ? -1 : 1))
    return {
      by: this.#by,
      total: Object.values(this.#totals).reduce((sum, count) => sum + count, 0),
      totals: this.#totals,
      lastSeen: this.#lastSeen,
      ...(hasSteps ? { list } : {}),
      ...(this.#countedSince === undefined ? {} : { countedSince: this.#countedSince }),
    }
  }
}

/** Each is a search of its own. */
const maxValues = 12
/** A slow search takes seconds, and clients wait a minute. */
const maxMs = 20_000
