import { SluiceError } from '../errors/sluice-error.js'
import { installProcessHooks } from '../process/install.js'
import { processRegistry } from '../process/registry.js'
import type { LogRecord, ValueRecord } from '../records/wire.js'

/** The records that a test has captured, oldest first, as the service would have got them. */
export interface CapturedSluice extends Disposable {
  /** Log records, those of pino's target once `await flush()` has resolved. */
  readonly logs: readonly LogRecord[]
  /** Value records: one for each `track`. */
  readonly values: readonly ValueRecord[]
  /** Forget what was captured so far. */
  clear(): void
  /** Deliver again. */
  restore(): void
}

/**
 * In tests: take every record of this process in the place of delivery, whatever is configured, and nothing if nothing is. No request
 * leaves the process. What `track`, winston and `sluicePino()` accept is there at once; lines of pino's target are there after
 * `await flush()`, for they come from pino's worker.
 *
 *     const captured = captureSluice()
 *     beforeEach(() => captured.clear())
 *     afterAll(() => captured.restore())
 *
 *     signUp('ann')
 *     expect(captured.values).toContainEqual(expect.objectContaining({ eventId: 1001 }))
 *
 * A second call takes over from the first.
 *
 * @throws {SluiceError} `SLUICE_CAPTURE_LATE` when records are on their way to the network already
 */
export function captureSluice(): CapturedSluice {
  installProcessHooks()
  const { queued, inFlight } = processRegistry().stats()
  if (queued + inFlight > 0) {
    const message = `captureSluice: ${queued + inFlight} records are on their way to the network already; capture before they are logged`
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
