import { Type } from '@sinclair/typebox'
import { answerOf } from './count-logs.js'
import { countsOf } from './counted.js'
import { parameters, queryOf } from './parameters.js'
import { named, quoted } from './quoted-data.js'
import { type Receiver, ToolError, tool } from './tool.js'

const description = `Count value events by their number, with the time of the last one of each; with step also over time, newest first.
An event that has stopped has an old last time, or is missing in the newest steps.`

export const countEvents = tool({
  name: 'count_events',
  title: 'Count events',
  description,
  input: Type.Object({
    event: Type.Optional(
      Type.String({
        maxLength: 200,
        description: 'Number of one event, such as 1001, or its name where the receiver knows names. Left out: all.',
      }),
    ),
    step: parameters.step,
    since: parameters.since,
    app: parameters.app,
    cursor: parameters.timeCursor,
  }),
  reads: 'values',
  async answer({ event, step, since, app, cursor }, { ask, bucket }) {
    const names = await eventNames(ask)
    const eventId = event === undefined ? undefined : numberOf(event, names)
    const counts = countsOf(await ask(`/api/values/${bucket}/counts${queryOf({ eventId, step, since, appName: app })}`))
    const nameOf = (id: string) => (Object.hasOwn(names, id) ? `${id} ${named(names[id]!)}` : id)
    return answerOf(counts, { title: 'Value events by number', cursor, nameOf })
  },
})

/** Names of events by number, from the receiver's catalogue. */
async function eventNames(ask: Receiver['ask']): Promise<Readonly<Record<string, string>>> {
  const { events } = await ask('/api/session')
  return (events ?? {}) as Readonly<Record<string, string>>
}

function numberOf(event: string, names: Readonly<Record<string, string>>): number {
  if (/^-?\d{1,15}$/.test(event)) return Number(event)
  const found = Object.entries(names).find(([, name]) => name === event)
  if (found !== undefined) return Number(found[0])
  const known = Object.values(names).slice(0, 50).map(named).join(', ')
  const words = known === '' ? 'its number: the receiver has no catalogue of names' : `its number, or one of ${known}`
  throw new ToolError(`event: expected ${words}, got ${quoted(event, 200)}`)
}
