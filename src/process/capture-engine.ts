import type { Ledger } from '../delivery/ledger.js'
import type { OutgoingBatch, Sender } from '../delivery/sender.js'
import { Engine } from '../engine/engine.js'
import { silentReporter } from '../engine/engine-setting.js'
import { type Machine, thisMachine } from '../engine/machine.js'
import type { ResolvedOptions } from '../options/options.js'
import { type Capture, captureChanges, currentCapture } from './capture.js'

/** An engine for each set of options. A new capture starts with none: another copy of the package may have begun it. */
let engines = new WeakMap<ResolvedOptions, CaptureEngine>()
let changes = captureChanges()

/** The engine whose records are captured; undefined while none are. */
export function captureEngine(options: ResolvedOptions): Engine | undefined {
  const capture = currentCapture()
  if (capture === undefined) return undefined
  if (changes !== captureChanges()) {
    engines = new WeakMap()
    changes = captureChanges()
  }
  const known = engines.get(options)
  if (known?.capture === capture) return known
  const engine = new CaptureEngine(options, capture)
  engines.set(options, engine)
  return engine
}

/** An engine that delivers each record to a capture, within the call that logs it. It has nothing to close: a logger may go on after that. */
class CaptureEngine extends Engine {
  readonly capture: Capture

  constructor(options: ResolvedOptions, capture: Capture) {
    super(
      { ...options, logBucket: 'captured', valueBucket: 'captured', spoolDir: undefined, lingerMs: 0 },
      {
        machine: atOnce,
        sender: { sender: new CaptureSender(capture), startExit: () => undefined },
        reporter: () => silentReporter,
      },
    )
    this.capture = capture
  }

  override close(): Promise<Ledger> {
    return this.park()
  }
}

class CaptureSender implements Sender {
  readonly #capture: Capture

  constructor(capture: Capture) {
    this.#capture = capture
  }

  carriage() {
    return { sender: 'pipelined', maxDepth: 1 } as const
  }

  send(batch: OutgoingBatch): void {
    for (let index = 0; index < batch.length; index++)
      this.#capture.record(batch.kind, JSON.parse(batch.textOf(index).body))
    batch.settle(0, { type: 'delivered' }, batch.length)
    batch.done()
  }

  async close(): Promise<void> {}
}

const { service: _, ...machine } = thisMachine
const atOnce: Machine = { ...machine, clock: { ...machine.clock, soon: (task) => task() } }
