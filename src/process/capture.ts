import type { RecordPort } from '../engine/ports.js'
import type { ResolvedOptions } from '../options/options.js'
import type { LogRecord, RecordKind, ValueRecord } from '../records/wire.js'
import { hostGlobal } from '../runtime/host.js'
import { CapturePort } from './capture-port.js'

/** Takes records in the place of the service, in tests. */
export interface Capture {
  record(kind: RecordKind, record: LogRecord | ValueRecord): void
}

/** One for the whole thread, whichever copy of the package comes first. */
const key = Symbol.for('sluice.capture.v1')
const shared = hostGlobal as { [key]?: { capture: Capture | undefined } }
shared[key] ??= { capture: undefined }
const holder = shared[key]

/** Ports by what they map with; a new capture makes them anew. */
let ports = new WeakMap<ResolvedOptions, { readonly capture: Capture; readonly port: RecordPort }>()

/** Take all records of this thread from now on; undefined: deliver them again. */
export function setCapture(capture: Capture | undefined): void {
  holder.capture = capture
  ports = new WeakMap()
}

export function currentCapture(): Capture | undefined {
  return holder.capture
}

/** Where records go while they are captured; undefined while they are not. */
export function capturePort(options: ResolvedOptions): RecordPort | undefined {
  const { capture } = holder
  return capture === undefined ? undefined : portOf(options, capture)
}

function portOf(options: ResolvedOptions, capture: Capture): RecordPort {
  const known = ports.get(options)
  if (known?.capture === capture) return known.port
  const port = new CapturePort(options, capture)
  ports.set(options, { capture, port })
  return port
}
