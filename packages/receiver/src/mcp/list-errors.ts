import { Type } from '@sinclair/typebox'
import type { LogError, LogErrors } from '../client/log-errors.js'
import { Answer, listed } from './answer.js'
import { limitOf, parameters, queryOf } from './parameters.js'
import { named, quoted } from './quoted-data.js'
import { hintLine } from './record-line.js'
import { tool } from './tool.js'

const description = `List the kinds of errors, the most frequent first: each with its count, its first and last time, the applications and versions that have it, and the ID of a sample for get_record.
The version that brought an error: see versions, and first. To read the records of a kind: search_logs with q error:ID.`

export const listErrors = tool({
  name: 'list_errors',
  title: 'List kinds of errors',
  description,
  input: Type.Object({
    since: parameters.since,
    app: parameters.app,
    env: parameters.env,
    limit: limitOf(20, 100),
    cursor: parameters.cursor,
  }),
  reads: 'logs',
  async answer({ since, app, env, limit = 20, cursor }, { ask, bucket }) {
    const from = Number(cursor ?? 0)
    const asked = queryOf({ since, app, env, limit: Math.min(from + limit + 1, mostKinds) })
    const { total, list, hint } = (await ask(`/api/logs/${bucket}/errors${asked}`)) as object as LogErrors
    const answer = new Answer(`Kinds of errors, ${total} in all, the most frequent first:`)
    const isLast = from + limit >= list.length && total > list.length
    const notes = isLast
      ? [`Only the ${list.length} most frequent are listed: ask by app, env or since for others.`]
      : []
    const reasons = [...notes, hintLine(hint)]
    return listed(answer, { items: list, from, limit, lineOf, notes: reasons })
  },
})

function lineOf({
  id,
  type,
  message,
  frame,
  count,
  firstSeen,
  lastSeen,
  apps,
  versions,
  sample,
  ...rest
}: LogError): string {
  const title = `${type === null ? '' : `${named(type)} `}${quoted(message, maxBytes)}`
  const parts = [
    `error:${named(id)} ${count} times ${title}`,
    ...(frame === null ? [] : [`at ${quoted(frame, maxBytes)}`]),
    `first ${firstSeen}, last ${lastSeen}`,
    `apps ${namesOf(apps)}`,
    ...(versions.length === 0 ? [] : [`versions, the newest first: ${namesOf(versions.toReversed())}`]),
    `sample ${sample}`,
    ...(rest.new === true ? ['new: only the newest version has it'] : []),
  ]
  return parts.join('; ')
}

function namesOf(names: readonly string[]): string {
  const more = names.length > maxNames ? [`and ${names.length - maxNames} more`] : []
  return [...names.slice(0, maxNames).map(named), ...more].join(', ')
}

const maxBytes = 200
const maxNames = 6
const mostKinds = 100
