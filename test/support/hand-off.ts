import { type Machine, thisMachine } from '../../src/engine/machine.js'
import type { SluiceError } from '../../src/errors/sluice-error.js'
import { HandOff } from '../../src/hand-off/hand-off.js'
import { configure } from '../../src/process/configure.js'
import { calledBells } from './bells.js'
import { FakeThread } from './fake-thread.js'
import { settle, VirtualClock } from './virtual-clock.js'

export const all = Number.POSITIVE_INFINITY
export const lanes = [
  { kind: 'logs', bucket: 'b' },
  { kind: 'values', bucket: 'b' },
] as const

interface Setting {
  readonly url?: string
  /** True when a worker takes records from the start. */
  readonly up?: boolean
  readonly maxQueueBytes?: number
  /** Bytes of the pipe's ring. */
  readonly pipeBytes?: number
  readonly spoolDir?: string
  /** True when there is no bucket for log records. */
  readonly valuesOnly?: boolean
  readonly accepted?: () => boolean
}

/** The machine of a hand-off and of its worker in one thread: `meanwhile` is what the worker does while the application waits. */
export function machineWith(clock: VirtualClock, meanwhile: () => void): Machine {
  return { ...thisMachine, clock, processNow: () => clock.now(), bell: calledBells(meanwhile) }
}

/** A hand-off whose worker and clock the test moves. */
export function startHandOff(setting: Setting = {}) {
  const { url = 'http://127.0.0.1:1', up = true, maxQueueBytes = 65_536, valuesOnly = false } = setting
  const { spoolDir, accepted, pipeBytes } = setting
  const clock = new VirtualClock()
  const printed: string[] = []
  const errors: string[] = []
  const codes: string[] = []
  const onError = ({ code, message }: SluiceError) => {
    codes.push(code)
    errors.push(message)
  }
  const machine = machineWith(clock, () => thread.work())
  const thread = new FakeThread(valuesOnly ? lanes.slice(1) : lanes, machine)
  thread.up = up
  const buckets = valuesOnly ? { valueBucket: 'b' } : { bucket: 'b' }
  const spool = spoolDir === undefined ? {} : { spoolDir }
  const { options } = configure({ url, apiKey: 'k', ...buckets, ...spool, maxQueueBytes, onError }, 'values')
  const engine = new HandOff(options, {
    thread,
    accepted,
    machine,
    print: (text) => void printed.push(text),
    ...(pipeBytes === undefined ? {} : { pipeBytes }),
  })
  const log = (text: string, severity: 2 | 4 = 2) =>
    engine.line(JSON.stringify({ msg: text }), { style, severity, arrivedAt: 0 })
  /** The worker does all that there is to do. */
  const serve = async () => {
    await settle()
    thread.work()
    await settle()
  }
  return { clock, machine, printed, codes, errors, thread, engine, log, serve }
}

const style = { messageKey: 'msg' }
