import { counted } from '../errors/counted.js'
import { SluiceError } from '../errors/sluice-error.js'
import { installProcessHooks } from '../process/install.js'
import { processRegistry } from '../process/registry.js'
import type { LogRecord, ValueRecord } from '../records/wire.js'

/** The records that a test has captured, oldest first, as the service would have received them. */
export interface CapturedSluice extends Disposable {
  /** Log records. Those of pino's target are here after `await flush()`. */
  readonly logs: readonly LogRecord[]
  /** Value records, one for each `track`. */
  readonly values: readonly ValueRecord[]
  /** Remove the records captured so far. */
  clear(): void
  /** Deliver again. */
  restore(): void
}

/**
 * For tests: captures every record of this process instead of delivering it, with or without a configuration. No request leaves the
 * process. Records of `track`, winston and `sluicePino()` are captured at once. Those of pino's target come from pino's worker, so they are
 * here after `await flush()`.
 *
 *     const captured = captureSluice()
 *     beforeEach(() => captured.clear())
 *     afterAll(() => captured.restore())
 *
 *     signUp('ann')
 *     expect(captured.values).toContainEqual(expect.objectContaining({ eventId: 1001 }))
 *
 * After a second call, records go to that capture alone.
 *
 * @throws {SluiceError} `SLUICE_CAPTURE_LATE` if records are on their way to the network already
 */
export function captureSluice(): CapturedSluice {
  installProcessHooks()
  const { queued, inFlight } = processRegistry().stats()
  const pending = queued + inFlight
  if (pending > 0) {
    const message = `captureSluice: ${counted(pending, 'record')} ${pending === 1 ? 'is' : 'are'} on their way to the network already; capture before they are logged`
    throw new SluiceError('SLUICE_CAPTURE_LATE', message)
  }
  const logs: LogRecord[] = []
  const values: ValueRecord[] = []
  const capture = {
    record(kind: 'logs' | 'values', record: LogRecord | ValueRecord): void {
      if (kind === 'logs') logs.push(record as LogRecord)
      else values.push(record as ValueRecord)
    },
  }
  processRegistry().capture.begin(capture)
  const restore = () => processRegistry().capture.end(capture)
  return {
    logs,
    values,
    clear() {
      logs.length = 0
      values.length = 0
    },
    restore,
    [Symbol.dispose]: restore,
  }
}
