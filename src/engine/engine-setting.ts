import type { LaneName, LaneReport } from '../delivery/ledger.js'
import type { Observer } from '../delivery/observer.js'
import type { SluiceErrorCode } from '../errors/sluice-error.js'
import type { ResolvedOptions } from '../options/options.js'
import type { RecordKind } from '../records/wire.js'
import type { EngineSender } from './engine-sender.js'
import type { Machine } from './machine.js'
import type { AcceptanceWatch } from './ports.js'
import type { EnginePosition } from './worker-position.js'

/** The facts about an engine that are no options of the application. */
export interface EngineSetting extends AcceptanceWatch {
  /** The kinds of record that it takes. Each has a lane where the options name a bucket for it. @default both */
  readonly kinds?: readonly RecordKind[]
  /** Memory for the ledger, made by the thread that hands over. */
  readonly memory?: SharedArrayBuffer
  /** Shows that the worker waits for the disk of the spool. */
  readonly position?: EnginePosition
  /** @param warn delivers a log record of level warn @default one for the listeners of this thread, and stderr */
  readonly reporter?: (warn: (message: string) => void) => EngineReporter
  /** @default one that makes requests */
  readonly sender?: Pick<EngineSender, 'sender' | 'startExit'>
  /** Lines are read when their lane sends what it gathers, many in a row. Else as they come. @default false */
  readonly gathers?: boolean
  /** Writes one line for people. @default to stderr */
  readonly print?: (text: string) => void
  /** @default this one */
  readonly machine?: Machine
}

/** Reports what happens to the records of an engine. */
export interface EngineReporter extends Observer {
  /** A mistake that concerns no lane. Each `kind` is reported. */
  misused(code: SluiceErrorCode, text: string, kind?: string): void
  /** The engine is closed: report what its lanes have dropped by `shutdown`, and all that is held back. */
  ended(lanes: readonly LaneReport[]): void
  /** Report all that is held back: the process may end next. */
  tellAll(): void
}

function ignore(): void {}

/** Reports nothing: the caller of the engine tells what has happened. */
export const silentReporter: EngineReporter = {
  dropped: ignore,
  rejected: ignore,
  paused: ignore,
  outage: ignore,
  resumed: ignore,
  recovered: ignore,
  misused: ignore,
  ended: ignore,
  tellAll: ignore,
}

/** The lanes of a configuration: one for each kind that has a bucket. */
export function lanesOf(options: ResolvedOptions, kinds: readonly RecordKind[] = ['logs', 'values']): LaneName[] {
  const buckets = { logs: options.logBucket, values: options.valueBucket }
  return kinds.flatMap((kind) => (buckets[kind] === undefined ? [] : [{ kind, bucket: buckets[kind] }]))
}
