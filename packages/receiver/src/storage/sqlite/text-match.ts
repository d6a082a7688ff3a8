import { compares } from '../../query/meets-query.js'
import type { Query } from '../../query/query.js'
import { isCut, labelOf, labelOfField, laneLabel } from './text-labels.js'

/** What the text index can find of a query. */
export interface Match {
  /** The query of the index; undefined where it finds all records of the lane. */
  readonly text: string | undefined
  /** False where it finds other records, too: they must be checked. */
  readonly isExact: boolean
  /** It finds no records of other lanes. */
  readonly isOfLane: boolean
}

/** A question to the text index, for the records of a lane. */
export interface TextQuestion {
  readonly match: string
  readonly isExact: boolean
  /** The index reads all words with a prefix before it finds the first record. */
  readonly hasPrefix: boolean
}

export function questionOf(lane: Lane, query: Query): TextQuestion {
  const { text, isExact, isOfLane } = matchOf(lane, query)
  const match = text === undefined ? inLane(lane) : isOfLane ? text : `(${inLane(lane)} AND ${text})`
  return { match, isExact, hasPrefix: match.includes('*') }
}

/** A lane, as the text index knows it. */
export interface Lane {
  readonly id: number
  /** All numbers that a field of the context has, as JSON. Undefined where they are not known, or too many. */
  readonly numbersOf: (path: string) => readonly string[] | undefined
}

/** The least that the text index can find with all records of the query among it. */
function matchOf(lane: Lane, query: Query): Match {
  switch (query.type) {
    case 'all':
      return allOf(lane, query.of)
    case 'any':
      return anyOf(query.of.map((each) => matchOf(lane, each)))
    case 'not':
      return allOf(lane, [query])
    case 'words':
      return {
        text: `message : "${query.phrase.join(' ')}"${query.isPrefix ? ' *' : ''}`,
        isExact: true,
        isOfLane: false,
      }
    case 'value': {
      const { field, values } = query
      if (values.length === 0) return { text: nothing, isExact: true, isOfLane: true }
      const labels = values.map((json) => `labels : ${labelOf(lane.id, { field, json })}`)
      return { text: `(${labels.join(' OR ')})`, isExact: !values.some((json) => isCut(field, json)), isOfLane: true }
    }
    case 'prefix': {
      const { field, prefixes } = query
      const there = labelOfField(lane.id, field)
      if (there !== undefined && prefixes.includes(''))
        return { text: `labels : ${there}`, isExact: true, isOfLane: true }
      const labels = prefixes.map((json) => `labels : ${labelOf(lane.id, { field, json })} *`)
      return { text: `(${labels.join(' OR ')})`, isExact: !prefixes.some((json) => isCut(field, json)), isOfLane: true }
    }
    case 'number': {
      const { field } = query
      // An event is not a rare field.
      const there = labelOfField(lane.id, field)
      if (there === undefined) return { text: undefined, isExact: false, isOfLane: true }
      const values = lane.numbersOf(field.slice(1))?.filter((json) => compares(json, query))
      if (values !== undefined) return matchOf(lane, { type: 'value', field, values })
      return { text: `labels : ${there}`, isExact: false, isOfLane: true }
    }
    case 'time':
      return { text: undefined, isExact: false, isOfLane: true }
  }
}

function allOf(lane: Lane, queries: readonly Query[]): Match {
  const matches = queries.filter(({ type }) => type !== 'not').map((query) => matchOf(lane, query))
  const wanted = matches.flatMap(({ text }) => text ?? [])
  let isExact = matches.every((match) => match.isExact)
  const unwanted: string[] = []
  for (const query of queries) {
    if (query.type !== 'not') continue
    const match = matchOf(lane, query.of)
    // What is not exact has other records, which must not be left out.
    if (!match.isExact) isExact = false
    else unwanted.push(match.text ?? inLane(lane))
  }
  const isOfLane = wanted.length === 0 || matches.some((match) => match.text !== undefined && match.isOfLane)
  const found = wanted.length === 0 ? undefined : `(${wanted.join(' AND ')})`
  if (unwanted.length === 0) return { text: found, isExact, isOfLane }
  return { text: `(${found ?? inLane(lane)} NOT (${unwanted.join(' OR ')}))`, isExact, isOfLane }
}

function anyOf(matches: readonly Match[]): Match {
  if (matches.length === 0) return { text: nothing, isExact: true, isOfLane: true }
  const isExact = matches.every((match) => match.isExact)
  const texts = matches.flatMap(({ text }) => text ?? [])
  const isOfLane = matches.every((match) => match.isOfLane)
  if (texts.length === matches.length) return { text: `(${texts.join(' OR ')})`, isExact, isOfLane }
  return {
    text: undefined,
    isExact: matches.some((match) => match.text === undefined && match.isExact),
    isOfLane: true,
  }
}

/** No lane has the number 0. */
const nothing = `labels : ${laneLabel(0)}`

function inLane({ id }: Lane): string {
  return `labels : ${laneLabel(id)}`
}
