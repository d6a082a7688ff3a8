import { Type } from '@sinclair/typebox'
import { timeText } from '../commands/printed-record.js'
import { Answer } from './answer.js'
import { parameters, queryOf } from './parameters.js'
import { bytesOf, named, quotedPart } from './quoted-data.js'
import { type LogRecord, pageOf, recordLine } from './record-line.js'
import { type Receiver, ToolError, tool } from './tool.js'

const description = `Show one log record in full, and the lines around it of the same application and host, newest first.
A message of more than 4 kB is cut; the cursor shows its next part.`

export const getRecord = tool({
  name: 'get_record',
  title: 'Get a record',
  description,
  input: Type.Object({
    id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'ID of the record' }),
    around: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 10, default: 5, description: 'Lines before it, and as many after it' }),
    ),
    cursor: parameters.cursor,
  }),
  reads: 'logs',
  async answer({ id, around = 5, cursor }, receiver) {
    const [record] = pageOf(await receiver.ask(`/api/logs/${receiver.bucket}?limit=1&before=${id + 1}`)).list
    if (record?.id !== id)
      throw new ToolError(`id: there is no record ${id} in this bucket; it may be too old to be kept`)
    const from = Math.min(Number(cursor ?? 0), record.message.length)
    const { text: message, next } = quotedPart(record.message, { from, maxBytes: maxMessageBytes })
    const answer = new Answer(`Record ${id}:`, ...fieldLines(record), `message: ${message}`)
    if (from === 0 && around > 0) {
      const newer = await newerThan(record, { around, receiver })
      const older = await olderThan(record, { around, receiver })
      addAround(answer, { newer, older, host: record.machineName === undefined ? '' : ' and host' })
    }
    return answer.text(next, next === undefined ? undefined : 'The cursor shows the rest of the message.')
  },
})

/** All fields but the message. */
function fieldLines({ message: _, id: __, timeStamp, receivedAt, ...fields }: LogRecord): string[] {
  const others = Object.entries(fields).map(([name, value]) => `${named(name)}: ${named(String(value))}`)
  return [`time: ${timeText(timeStamp)}, received ${receivedAt}`, ...others]
}

interface Around {
  readonly around: number
  readonly receiver: Receiver
}

function sameOrigin({ appName, machineName }: LogRecord) {
  return { appName, machineName }
}

async function olderThan(
  record: LogRecord,
  { around, receiver: { ask, bucket } }: Around,
): Promise<readonly LogRecord[]> {
  const query = queryOf({ ...sameOrigin(record), before: record.id, limit: around })
  return pageOf(await ask(`/api/logs/${bucket}${query}`)).list
}

/** The next records, newest first. */
async function newerThan(
  record: LogRecord,
  { around, receiver: { ask, bucket } }: Around,
): Promise<readonly LogRecord[]> {
  let found: readonly LogRecord[] = []
  let after: number | undefined = record.id
  while (after !== undefined && found.length < around) {
    const query = queryOf({ ...sameOrigin(record), after, limit: around })
    const page: ReturnType<typeof pageOf> = pageOf(await ask(`/api/logs/${bucket}${query}`))
    found = [...page.list, ...found]
    after = page.next
  }
  return found.slice(-around)
}

interface Neighbours {
  readonly newer: readonly LogRecord[]
  readonly older: readonly LogRecord[]
}

function addAround(answer: Answer, { host, ...neighbours }: Neighbours & { readonly host: '' | ' and host' }): void {
  const { newer, older } = nearest(neighbours, answer.room)
  for (const [side, records] of Object.entries({ newer, older })) {
    if (records.length > 0) answer.add(`${side}, of the same application${host}:`)
    for (const record of records) answer.add(aroundLine(record))
  }
}

/** Those that there is room for. The nearest come first. */
function nearest({ newer, older }: Neighbours, room: number): Neighbours {
  const byDistance = newer.toReversed().flatMap((record, at) => [record, ...older.slice(at, at + 1)])
  const all = [...byDistance, ...older.slice(newer.length)]
  let left = room - headingBytes
  const found = all.findIndex((record) => {
    left -= bytesOf(`\n${aroundLine(record)}`)
    return left < 0
  })
  const fitting = new Set(found === -1 ? all : all.slice(0, found))
  return { newer: newer.filter((each) => fitting.has(each)), older: older.filter((each) => fitting.has(each)) }
}

function aroundLine(record: LogRecord): string {
  return recordLine(record, maxAroundBytes)
}

const maxMessageBytes = 4096
const maxAroundBytes = 150
/** For the two lines above the neighbours. */
const headingBytes = 120
