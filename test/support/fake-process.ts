import { EventEmitter } from 'node:events'
import type { ProcessHost } from '../../src/process/signals.js'

/** The events of `process`, emitted by a test. Signals that are raised are noted, and end nothing. */
export class FakeProcess extends EventEmitter {
  readonly pid = 1
  readonly raised: string[] = []
  readonly nextTick = process.nextTick

  get host(): ProcessHost {
    return this as unknown as ProcessHost
  }

  kill(_pid: number, signal: string): true {
    this.raised.push(signal)
    this.emit('raised', signal)
    return true
  }
}
