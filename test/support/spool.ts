import { closeSync, existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { stat } from 'node:fs/promises'
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
import { answers, ScriptedSender } from './scripted-sender.js'
import { VirtualClock } from './virtual-clock.js'

const hourMs = 3_600_000
const lanes = [
  { kind: 'logs', bucket: 'b' },
  { kind: 'values', bucket: 'b' },
] as const

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

/** The plan of a spool in virtual time. Its messages go to `said`. */
export function spoolPlan(
  dir: string,
  {
    clock,
    said,
    keyPrefix = 'test',
  }: { readonly clock: VirtualClock; readonly said: string[]; readonly keyPrefix?: string },
): SpoolPlan {
  return {
    dir,
    url: 'http://127.0.0.1:1/',
    lanes,
    keys: new KeyWriter(keyPrefix),
    maxBytes: 1_048_576,
    maxAgeMs: 72 * hourMs,
    sync: false,
    clock,
    wallClock: () => 1_700_000_000_000 + clock.now(),
    random: () => 0.5,
    report: (text) => said.push(text),
  }
}

let engines = 0

/** A delivery with a spool in a real folder, in virtual time, over a scripted sender. */
export function setUpSpool(
  dir: string,
  changes: { spool?: Partial<SpoolPlan>; delivery?: Partial<DeliveryPlan>; clock?: VirtualClock } = {},
) {
  const clock = changes.clock ?? new VirtualClock()
  const said: string[] = []
  const sender = new KeyedSender(clock)
  const keyPrefix = `engine${++engines}`
  const spool = new Spool({ ...spoolPlan(dir, { clock, said, keyPrefix }), ...changes.spool })
  const { delivery, told, log, value } = setUp({ sender, backing: spool, keyPrefix, ...changes.delivery }, clock)
  spool.start(delivery)
  return { clock, sender, spool, delivery, told, said, log, value }
}

/** An engine has ended and has left so many records in a spool. */
export async function leaveRecords(
  dir: string,
  count: number,
  { severity = 2, ...changes }: Parameters<typeof setUpSpool>[1] & { severity?: 1 | 2 | 4 } = {},
): Promise<void> {
  const { clock, sender, delivery, log } = setUpSpool(dir, changes)
  sender.answer = () => answers.refused
  for (let number = 0; number < count; number++) log(`{"message":"left ${number}"}`, severity)
  const closed = delivery.close({ timeoutMs: 0 })
  await clock.advance(1)
  await closed
}

/** Let time pass, for the clock and for reads of the disk. */
export async function pass(clock: VirtualClock, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 100) {
    await clock.advance(Math.min(100, left))
    for (let turn = 0; turn < 10; turn++) await stat('.')
  }
}

/** Let time pass until a condition holds, for so long at most. */
export async function passUntil(clock: VirtualClock, ms: number, done: () => boolean): Promise<void> {
  const end = clock.now() + ms
  while (!done() && clock.now() < end) await pass(clock, 100)
  if (!done()) throw new Error(`the condition does not hold after ${ms} ms`)
}

/** Every whole line of the segments of a spool, acknowledged or not. */
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

/** Close the descriptor of a file that is open, as a faulty program may. */
export function closeBehindItsBack(path: string): void {
  for (const name of readdirSync('/proc/self/fd')) {
    try {
      if (readlinkSync(`/proc/self/fd/${name}`) === path) closeSync(Number(name))
    } catch {
      // The descriptor of the listing itself.
    }
  }
}
