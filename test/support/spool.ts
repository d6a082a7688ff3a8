import { closeSync, existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { DeliveryPlan } from '../../src/delivery/plan.js'
import type { Batch, Sender } from '../../src/delivery/sender.js'
import { Spool, type SpoolPlan } from '../../src/spool/spool.js'
import { readSpoolLine, type SpoolLine } from '../../src/spool/spool-line.js'

import { SpooledSender } from '../../src/spool/spooled-sender.js'
import { setUp } from './delivery.js'
import { ScriptedSender } from './scripted-sender.js'
import { VirtualClock } from './virtual-clock.js'

const hourMs = 3_600_000
const lanes = [
  { kind: 'logs', bucket: 'b' },
  { kind: 'values', bucket: 'b' },
] as const

/** A folder of its own, removed after the test. */
export function spoolFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-spool-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** Notes the idempotency keys besides. */
class KeyedSender extends ScriptedSender {
  readonly keys: string[] = []
  before = (_bodies: readonly string[]) => {}

  override send(batch: Batch): Promise<void> {
    this.before(batch.records.map(({ body }) => body))
    this.keys.push(...batch.records.map(({ idempotencyKey }) => idempotencyKey))
    return super.send(batch)
  }
}

/** A delivery with a spool in a real folder, in virtual time, over a scripted sender. */
export function setUpSpool(
  dir: string,
  changes: { spool?: Partial<SpoolPlan>; delivery?: Partial<DeliveryPlan>; clock?: VirtualClock } = {},
) {
  const clock = changes.clock ?? new VirtualClock()
  const said: string[] = []
  const sender = new KeyedSender(clock)
  const spool = new Spool({
    dir,
    url: 'http://127.0.0.1:1/',
    lanes,
    maxBytes: 1_048_576,
    maxAgeMs: 72 * hourMs,
    sync: false,
    clock,
    wallClock: () => 1_700_000_000_000 + clock.now(),
    random: () => 0.5,
    report: (text) => said.push(text),
    ...changes.spool,
  })
  const spooled: Sender = new SpooledSender(sender, spool)
  const { delivery, told, log, value } = setUp({ sender: spooled, store: spool, ...changes.delivery }, clock)
  spool.start(delivery.held)
  return { clock, sender, spool, delivery, told, said, log, value }
}

/** Time passes, for the clock as for the disk: what is being read meanwhile is read. */
export async function pass(clock: VirtualClock, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 100) {
    await clock.advance(Math.min(100, left))
    for (let turn = 0; turn < 4; turn++) await stat('.')
  }
}

/** Time passes until something is so, for so long at most. */
export async function passUntil(clock: VirtualClock, ms: number, done: () => boolean): Promise<void> {
  const end = clock.now() + ms
  while (!done() && clock.now() < end) await pass(clock, 100)
  if (!done()) throw new Error(`not so after ${ms} ms`)
}

/** Every line of the segments of a spool that is whole, acknowledged or not. */
export function linesIn(dir: string): SpoolLine[] {
  return filesIn(dir)
    .filter((path) => path.endsWith('.ndjson'))
    .flatMap((path) => readFileSync(path, 'utf8').split('\n'))
    .flatMap((line) => readSpoolLine(Buffer.from(line)) ?? [])
}

/** Files of a folder and its folders. */
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
