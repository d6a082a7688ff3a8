import { thisMachine } from '../../src/engine/machine.js'
import type { SluiceError } from '../../src/errors/sluice-error.js'
import { HandOff } from '../../src/hand-off/hand-off.js'
import { configure } from '../../src/process/configure.js'
import { FakeThread } from './fake-thread.js'
import { settle, VirtualClock } from './virtual-clock.js'

export const all = Number.POSITIVE_INFINITY
export const lanes = [
  { kind: 'logs', bucket: 'b' },
  { kind: 'values', bucket: 'b' },
] as const

interface Setting {
  readonly url?: string
  /** True when a worker takes lines from the start. */
  readonly up?: boolean
  readonly maxQueueBytes?: number
  readonly spoolDir?: string
  /** True when there is no bucket for log records. */
  readonly valuesOnly?: boolean
  readonly accepted?: () => boolean
}

/** A hand-off whose worker and clock the test moves. */
export function startHandOff(setting: Setting = {}) {
  const {
    url = 'http://127.0.0.1:1',
    up = true,
    maxQueueBytes = 65_536,
    spoolDir,
    valuesOnly = false,
    accepted,
  } = setting
  const clock = new VirtualClock()
  const printed: string[] = []
  const errors: string[] = []
  const codes: string[] = []
  const onError = ({ code, message }: SluiceError) => {
    codes.push(code)
    errors.push(message)
  }
  const thread = new FakeThread(valuesOnly ? lanes.slice(1) : lanes)
  thread.up = up
  const buckets = valuesOnly ? { valueBucket: 'b' } : { bucket: 'b' }
  const spool = spoolDir === undefined ? {} : { spoolDir }
  const { options } = configure({ url, apiKey: 'k', ...buckets, ...spool, maxQueueBytes, onError }, 'values')
  const engine = new HandOff(options, {
    thread,
    accepted,
    machine: { ...thisMachine, clock },
    print: (text) => void printed.push(text),
  })
  const log = (text: string, severity: 2 | 4 = 2) =>
    engine.pinoLine(JSON.stringify({ msg: text }), { style, severity, arrivedAt: 0 })
  /** The worker does all that there is to do. */
  const serve = async () => {
    await settle()
    thread.take(all)
    thread.deliver(all)
    thread.answer()
    await settle()
  }
  return { clock, printed, codes, errors, thread, engine, log, serve }
}

const style = { messageKey: 'msg' }
