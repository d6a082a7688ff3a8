import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { DeliveryPlan } from '../../src/delivery/plan.js'
import type { OutgoingBatch } from '../../src/delivery/sender.js'
import { KeyWriter } from '../../src/log/idempotency-key.js'
import { Spool, type SpoolPlan } from '../../src/spool/spool.js'
import { readSpoolLine, type SpoolLine } from '../../src/spool/spool-line.js'
import { recordsOf } from './batch.js'
import { setUp } from './delivery.js'
import { lanes } from './logs.js'
import { answers, ScriptedSender } from './scripted-sender.js'
import { VirtualClock } from './virtual-clock.js'

const hourMs = 3_600_000

/** A new folder that is removed after the test. */
export function spoolFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-spool-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** Records the idempotency keys, too. */
class KeyedSender extends ScriptedSender {
  readonly keys: string[] = []
  before = (_bodies: readonly string[]) => {}

  override send(batch: OutgoingBatch): void {
    this.before(recordsOf(batch).map(({ body }) => body))
    this.keys.push(...recordsOf(batch).map(({ idempotencyKey }) => idempotencyKey))
    super.send(batch)
  }
}

let engines = 0

interface Changes {
  readonly spool?: Partial<SpoolPlan>
  readonly delivery?: Partial<DeliveryPlan>
  readonly clock?: VirtualClock
}

/** The plan of a spool in virtual time. Its messages go to `said`. */
export function spoolPlan({
  said,
  ...plan
}: Pick<SpoolPlan, 'dir' | 'keys' | 'clock'> & { readonly said: string[] }): SpoolPlan {
  return {
    url: 'http://127.0.0.1:1/',
    lanes,
    maxBytes: 1_048_576,
    maxAgeMs: 72 * hourMs,
    sync: false,
    wallClock: () => 1_700_000_000_000 + plan.clock.now(),
    random: () => 0.5,
    report: (text) => said.push(text),
    ...plan,
  }
}

/** A delivery with a spool in a real folder, in virtual time, over a scripted sender. */
export function setUpSpool(dir: string, changes: Changes = {}) {
  const clock = changes.clock ?? new VirtualClock()
  const said: string[] = []
  const sender = new KeyedSender(clock)
  const keyPrefix = `engine${++engines}`
  const spool = new Spool({ ...spoolPlan({ dir, clock, said, keys: new KeyWriter(keyPrefix) }), ...changes.spool })
  const { delivery, told, log, value } = setUp({ sender, backing: spool, keyPrefix, ...changes.delivery }, clock)
  spool.start(delivery)
  /** The end, as an engine does it. Resolves with the last ledger. */
  const end = async (timeoutMs = 0) => {
    spool.look()
    const closed = delivery.close({ timeoutMs })
    await clock.advance(timeoutMs + 1)
    await closed
    spool.close()
    return delivery.stats()
  }
  return { clock, sender, spool, delivery, told, said, log, value, end }
}

/** An engine has ended and has left so many records in a spool. */
export async function leaveRecords(
  dir: string,
  count: number,
  { severity = 2, ...changes }: Changes & { readonly severity?: 1 | 2 | 4 } = {},
): Promise<void> {
  const { sender, log, end } = setUpSpool(dir, changes)
  sender.answer = () => answers.refused
  for (let number = 0; number < count; number++) log(`{"message":"left ${number}"}`, severity)
  await end()
}

/** Let time pass until a condition holds, for so long at most. */
export async function passUntil(clock: VirtualClock, ms: number, done: () => boolean): Promise<void> {
  const end = clock.now() + ms
  while (!done() && clock.now() < end) await clock.advance(100)
  if (!done()) throw new Error(`the condition does not hold after ${ms} ms`)
}

/** Every whole line of the files of records in a spool, acknowledged or not. */
export function linesIn(dir: string): SpoolLine[] {
  return segmentsIn(dir)
    .flatMap((path) => readFileSync(path, 'utf8').split('\n'))
    .flatMap((line) => readSpoolLine(Buffer.from(line)) ?? [])
}

/** The segments in a folder and its folders. */
export function segmentsIn(dir: string): string[] {
  return filesIn(dir).filter((path) => path.endsWith('.ndjson'))
}

/** The files of a folder and its folders. */
export function filesIn(dir: string): string[] {
  if (!existsSync(dir)) return []
  const entries = readdirSync(dir, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}
