import { readdirSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import type { LaneName } from '../../delivery/ledger.js'
import { counted } from '../../errors/counted.js'
import { systemClock } from '../../runtime/clock.js'
import { deadLetterFile, deadLetterFolder } from '../../spool/dead-letters.js'
import type { Refusal } from '../../spool/spool-line.js'
import { confirmed, type Output, type Status, type Summary } from '../output.js'
import { RecordsToSend, type RecordToSend, type SentPlace } from './records-to-send.js'
import { filesOf, SpoolFolders } from './spool-folders.js'

/** Chooses records by the reason of their rejection. */
export type Choice = (refusal: Refusal | undefined) => boolean

/** The dead letters whose reason contains a text; without a text, all of them. */
export function byReason(reason = ''): Choice {
  return (refusal) => refusal?.reason.includes(reason) === true
}

/** The folder of dead letters in the folder of a spool, or the folder itself. Throws when it cannot be read. */
export function lettersFolder(dir: string): string {
  const folder = resolve(dir)
  if (!readdirSync(folder).includes(deadLetterFolder)) return folder
  const inside = join(folder, deadLetterFolder)
  return statSync(inside).isDirectory() ? inside : folder
}

/** The names of the files of dead letters in a folder. Throws when it cannot be read. */
export function letterFiles(folder: string, say: (text: string) => void): string[] {
  return filesOf(folder, say).filter((name) => deadLetterFile.test(name))
}

/** Print the dead letters of a folder. It is not changed. Rejects with an error of the file system. */
export async function listDeadLetters(
  folder: string,
  { chosen, json, output }: { readonly chosen: Choice; readonly json: boolean; readonly output: Output },
): Promise<Status> {
  const { letters, damaged } = await lettersIn(folder, { chosen, say: (text) => output.say(text) })
  const reasons = groupsOf(letters)
  const shown = reasons.map(({ lanes, ...group }) => ({ ...group, lanes: lanes.map(({ newest: _, ...lane }) => lane) }))
  return output.summary({
    ok: damaged === 0,
    facts: { folder, records: letters.length, reasons: shown, letters: json ? letters.map(factsOf) : [], damaged },
    lines: [
      letters.length === 0 ? noLetters : `${counted(letters.length, 'dead letter')} in ${folder}:`,
      ...reasons.slice(0, maxReasons).flatMap(linesOf),
      reasons.length > maxReasons && `  and ${reasons.length - maxReasons} more reasons; --json lists all`,
      damaged > 0 && `damaged lines: ${damaged}`,
    ],
  })
}

/**
 * Remove the dead letters that are in a folder now. Asks before, unless `yes`. Killed in between, it leaves the others. Rejects with
 * an error of the file system.
 */
export async function dropDeadLetters(
  folder: string,
  { chosen, yes, output }: { readonly chosen: Choice; readonly yes: boolean; readonly output: Output },
): Promise<Status> {
  const say = (text: string) => output.say(text)
  const { letters } = await lettersIn(folder, { chosen, say })
  if (letters.length === 0) return output.summary(noneDropped)
  const question = `drop ${counted(letters.length, 'dead letter')} of ${folder} for ever?`
  if (!yes && !(await confirmed(question))) return output.fail(1, 'nothing is dropped')
  const folders = await SpoolFolders.hold(folder, { clock: systemClock, say })
  if ('refused' in folders) return output.fail(1, folders.refused)
  try {
    const known = new Set(letters.map(identityOf))
    const files = folders.files.filter((path) => deadLetterFile.test(basename(path)))
    const records = new RecordsToSend(files, chosen)
    const going = [...each(records)].filter((record) => known.has(identityOf(record)))
    for (const { place } of going) records.delivered(place)
    records.acknowledge()
    return output.summary({
      ok: true,
      facts: { dropped: going.length },
      lines: [`${counted(going.length, 'dead letter')} dropped`],
    })
  } finally {
    folders.release()
  }
}

/** The message about a folder without dead letters, or without the ones that were asked for. */
export const noLetters = 'there are no such dead letters in this folder'

const noneDropped: Summary = { ok: true, facts: { dropped: 0 }, lines: [noLetters] }

/** A dead letter on disk. */
interface Letter extends LaneName, Pick<RecordToSend, 'idempotencyKey'> {
  readonly refusal: Refusal
  readonly place: SentPlace
}

/** The dead letters of a folder that are chosen, by the time of the rejection, and the number of places that are damaged. */
async function lettersIn(
  folder: string,
  { chosen, say }: { readonly chosen: Choice; readonly say: (text: string) => void },
): Promise<{ readonly letters: readonly Letter[]; readonly damaged: number }> {
  const files = letterFiles(folder, say).map((name) => join(folder, name))
  const records = new RecordsToSend(files, chosen)
  const letters: Letter[] = []
  for (const { lane, idempotencyKey, refusal, place } of each(records)) {
    if (refusal !== undefined) letters.push({ ...records.lanes[lane]!, idempotencyKey, refusal, place })
  }
  letters.sort((a, b) => a.refusal.rejectedAt - b.refusal.rejectedAt)
  return { letters, damaged: records.damaged }
}

function* each(records: RecordsToSend): Generator<RecordToSend> {
  while (!records.allTaken) yield* records.take(portion)
}

/** Records that are read at once, at most. */
const portion = 1000

/** A text that tells dead letters apart. */
function identityOf({ idempotencyKey, refusal }: Pick<RecordToSend, 'idempotencyKey' | 'refusal'>): string {
  return `${idempotencyKey} ${refusal?.rejectedAt}`
}

/** The JSON of its record. Undefined when its file is gone. Throws other errors of the file system. */
function bodyOf({ place }: Letter): string | undefined {
  return place.file.lineAt(place.number)?.body
}

function factsOf(letter: Letter): object {
  const { idempotencyKey, kind, bucket, refusal, place } = letter
  const { status, reason, validationErrors } = refusal
  const rejectedAt = new Date(refusal.rejectedAt).toISOString()
  const record: unknown = JSON.parse(bodyOf(letter) ?? 'null')
  const file = place.file.path
  return { key: idempotencyKey, kind, bucket, rejectedAt, status, reason, validationErrors, record, file }
}

/** Dead letters with one reason and of one lane. */
interface LaneGroup extends LaneName {
  count: number
  newest: Letter
}

/** Dead letters with one reason. */
interface ReasonGroup {
  readonly reason: string
  count: number
  readonly lanes: LaneGroup[]
}

/** Reasons may quote the record, so the number of those that are printed as text is bounded. */
const maxReasons = 20
/** A record that is printed as text is cut at this length, in characters. */
const maxRecordChars = 160

/** The most frequent reason comes first. */
function groupsOf(letters: readonly Letter[]): ReasonGroup[] {
  const groups = new Map<string, ReasonGroup>()
  for (const letter of letters) {
    const { kind, bucket, refusal } = letter
    const group = groups.get(refusal.reason) ?? { reason: refusal.reason, count: 0, lanes: [] }
    groups.set(refusal.reason, group)
    group.count++
    const lane = group.lanes.find((each) => each.kind === kind && each.bucket === bucket)
    if (lane === undefined) group.lanes.push({ kind, bucket, count: 1, newest: letter })
    else {
      lane.count++
      lane.newest = letter
    }
  }
  return [...groups.values()].sort((a, b) => b.count - a.count)
}

function linesOf({ reason, count, lanes }: ReasonGroup): string[] {
  return [
    `  ${count} × ${reason}`,
    ...lanes.map(({ kind, bucket, count, newest }) => {
      const body = bodyOf(newest) ?? ''
      const shown = body.length > maxRecordChars ? `${body.slice(0, maxRecordChars)}…` : body
      return `    ${count} ${kind} of bucket ${bucket}, the newest: ${shown}`
    }),
  ]
}
