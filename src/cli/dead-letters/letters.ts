import { randomBytes } from 'node:crypto'
import { constants, fsyncSync, readdirSync, renameSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import type { LaneName } from '../../delivery/ledger.js'
import { systemClock } from '../../runtime/clock.js'
import { nodeFiles } from '../../runtime/files.js'
import { closeFile, openPlainFile } from '../../runtime/plain-file.js'
import { write } from '../../spool/append.js'
import { type DeadLetter, deadLetterFile, deadLetterFolder, deadLetterLine } from '../../spool/dead-letters.js'
import { syncFolder } from '../../spool/spool-folder.js'
import { readSpoolLine } from '../../spool/spool-line.js'
import { RecordsToSend, type RecordToSend, type SentPlace } from '../replay/records-to-send.js'
import { filesOf, SpoolFolders } from '../replay/spool-folders.js'

/** A dead letter of a listing, without its body. */
export interface Letter extends LaneName, Pick<DeadLetter, 'severity' | 'idempotencyKey' | 'time' | 'refusal'> {
  /** Its place in the listing, from 1. */
  readonly number: number
  /** Read its body. Undefined when its file is gone. Throws other errors of the file system. */
  readonly body: () => string | undefined
}

/** The dead letters of a folder, by the time of the rejection. */
export interface Letters {
  readonly letters: readonly Letter[]
  /** Places in the files where bytes are no record. */
  readonly damaged: number
}

/** The folder of dead letters in the folder of a spool, or the folder itself. Throws when it cannot be read. */
export function lettersFolder(dir: string): string {
  const folder = resolve(dir)
  if (!readdirSync(folder).includes(deadLetterFolder)) return folder
  const inside = join(folder, deadLetterFolder)
  return statSync(inside).isDirectory() ? inside : folder
}

/** Read the dead letters of a folder, without a change to it. Rejects with an error of the file system. */
export async function lettersIn(folder: string, say: (text: string) => void): Promise<Letters> {
  const files = filesOf(folder, say).filter((name) => deadLetterFile.test(name))
  const records = await RecordsToSend.of(files.map((name) => join(folder, name)))
  const letters: Omit<Letter, 'number'>[] = []
  for (const { lane, severity, idempotencyKey, time, refusal, place } of each(records)) {
    if (refusal === undefined) continue
    const body = () => place.segment.read([place.number])[0]?.line?.body
    letters.push({ ...records.lanes[lane]!, severity, idempotencyKey, time, refusal, body })
  }
  letters.sort((a, b) => a.refusal.rejectedAt - b.refusal.rejectedAt)
  return { letters: letters.map((letter, index) => ({ ...letter, number: index + 1 })), damaged: records.damaged }
}

/** A text that tells dead letters apart. */
export function identityOf({ idempotencyKey, refusal }: Pick<RecordToSend, 'idempotencyKey' | 'refusal'>): string {
  return `${idempotencyKey} ${refusal?.rejectedAt}`
}

export interface RemovalPlan {
  /** True for a dead letter that is to go. */
  readonly chosen: (record: RecordToSend) => boolean
  /** Stands in the place of the dead letters that go. It is on disk before they go. @default nothing */
  readonly replacement?: DeadLetter
  readonly say: (text: string) => void
}

/**
 * Remove dead letters from a folder, which is locked meanwhile. Resolves with their number, or with the reason why the folder is refused.
 * Killed in between, it leaves every letter that it has not replaced. Rejects with an error of the file system.
 */
export async function removeLetters(
  folder: string,
  { chosen, replacement, say }: RemovalPlan,
): Promise<number | { readonly refused: string }> {
  const folders = await SpoolFolders.hold(folder, { clock: systemClock, say })
  if ('refused' in folders) return folders
  try {
    const records = await RecordsToSend.of(folders.files.filter((path) => deadLetterFile.test(basename(path))))
    const going: SentPlace[] = []
    for (const record of each(records)) if (chosen(record)) going.push(record.place)
    if (going.length > 0 && replacement !== undefined) addLetter(folder, replacement)
    for (const place of going) records.delivered(place)
    records.acknowledge()
    return going.length
  } finally {
    folders.release()
  }
}

/** True when the record can be read back from the line of a dead letter. */
export function isWritable(letter: DeadLetter): boolean {
  return readSpoolLine(Buffer.from(deadLetterLine(letter, 0)))?.body === letter.body
}

/** Write a dead letter to a file of its own, which gets its name when it is whole. Throws what the file system does. */
function addLetter(folder: string, letter: DeadLetter): void {
  // The lock allows one writer, so a file that a kill has left is overwritten by the next one.
  const draft = join(folder, 'edited.tmp')
  const { O_WRONLY, O_CREAT, O_TRUNC } = constants
  const file = openPlainFile(draft, { flags: O_WRONLY | O_CREAT | O_TRUNC })
  try {
    const { error } = write(file, { bytes: Buffer.from(`${deadLetterLine(letter, 0)}\n`) })
    if (error !== undefined) throw error
    fsyncSync(file)
  } finally {
    closeFile(file)
  }
  const name = `${process.pid}-${Date.now().toString(36)}-${randomBytes(4).toString('hex')}-000001.ndjson`
  renameSync(draft, join(folder, name))
  syncFolder(folder, nodeFiles)
}

function* each(records: RecordsToSend): Generator<RecordToSend> {
  while (!records.allTaken) yield* records.take(portion)
}

/** Records that are read at once, at most. */
const portion = 1000
