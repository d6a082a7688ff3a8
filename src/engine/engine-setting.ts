import type { Listeners, ReportedElsewhere } from '../diagnostics/reporter.js'
import type { RecordKind } from '../records/wire.js'
import type { WorkerPosition } from './worker-position.js'

export interface EngineSetting {
  /** Kinds of record that it will be given; each has a lane where the options name a bucket for it. @default both */
  readonly kinds?: readonly RecordKind[]
  /** Memory for the ledger, made by the thread that hands over. */
  readonly memory?: SharedArrayBuffer
  /** Its records come from another thread. @default false */
  readonly handedOver?: boolean
  /** Where its worker shows that it waits for the disk of the spool, and its number there. */
  readonly position?: { readonly worker: WorkerPosition; readonly engine: number }
  /** News that is somebody else's to tell. @default none */
  readonly elsewhere?: readonly ReportedElsewhere[]
  /** Who is told of drops, rejections and pauses. @default the listeners of this thread */
  readonly listeners?: Listeners
  /** Writes one line for people. @default to stderr */
  readonly print?: (text: string) => void
}
