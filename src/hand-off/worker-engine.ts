import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { Engine } from '../engine/engine.js'
import type { EngineSetting } from '../engine/engine-setting.js'
import type { WorkerPosition } from '../engine/worker-position.js'
import { Secret } from '../options/secret.js'
import type { PinoStyle } from '../records/pino-line.js'
import { type Clock, systemClock } from '../runtime/clock.js'
import { deliverLine, type Frame, isRecord, readFrame } from './frames.js'
import { ClosedFlag, type EnginePlan, type WorkerMessage } from './protocol.js'

export interface WorkerEnginePlan {
  readonly engine: number
  readonly position: WorkerPosition
  /** Tells the application's side. */
  readonly say: (message: WorkerMessage) => void
  /** Called when the engine is closed: nothing comes for it any more. */
  readonly closed: () => void
}

type Drain = Frame & { readonly type: 'drain' }

/** The place of one engine in the delivery worker. Lines that come before the engine is opened wait. */
export class WorkerEngine {
  readonly #seat: WorkerEnginePlan
  readonly #styles: PinoStyle[] = []
  readonly #waiting: string[] = []
  /** The last one takes the lines; those before it finish what they have. */
  readonly #engines: Engine[] = []
  #closedFlag: ClosedFlag | undefined
  #stopLooking = () => {}

  constructor(seat: WorkerEnginePlan) {
    this.#seat = seat
  }

  open(plan: EnginePlan): void {
    const { spoolDir } = plan.options
    this.#closedFlag = new ClosedFlag(plan.closed)
    this.#start(plan, plan.diskIsStalled ? undefined : spoolDir)
    if (plan.diskIsStalled && spoolDir !== undefined) {
      this.#stopLooking = whenDiskAnswers(spoolDir, () => this.#start(plan, spoolDir))
    }
    for (const line of this.#waiting.splice(0)) this.take(line)
  }

  /** Take one line: a record, or an order. */
  take(line: string): void {
    const engine = this.#engines.at(-1)
    if (engine === undefined) {
      this.#waiting.push(line)
      return
    }
    if (isRecord(line)) {
      deliverLine(engine, line, this.#styles)
      return
    }
    const frame = readFrame(line)
    if (frame.type === 'style') this.#styles[frame.number] = frame.style
    else if (frame.type === 'drain') void this.#drain(frame)
  }

  #start({ options, apiKey, memory }: EnginePlan, spoolDir: string | undefined): void {
    const { engine, position, say } = this.#seat
    const setting: EngineSetting = {
      memory,
      handedOver: true,
      // The application's side tells of it, in its own time.
      elsewhere: ['shutdown'],
      position: { worker: position, engine },
      listeners: {
        error: (error) => say({ engine, type: 'error', code: error.code, text: error.message }),
        channel: (name, message) => say({ engine, type: 'channel', name, message }),
      },
    }
    const own = { apiKey: new Secret(apiKey), accessToken: undefined, onError: undefined, spoolDir }
    this.#engines.push(new Engine({ ...options, ...own }, setting))
  }

  async #drain({ mode, request, timeoutMs }: Drain): Promise<void> {
    const { engine, say, closed } = this.#seat
    if (mode === 'close') this.#stopLooking()
    await Promise.all(this.#engines.map((each) => each[mode]({ timeoutMs })))
    if (mode === 'close') {
      this.#closedFlag?.raise()
      closed()
    }
    say({ engine, type: 'drained', request })
  }
}

/** Time between two looks, and what a disk may take to answer one. */
const lookEveryMs = 30_000
const patienceMs = 5_000

/** Writes a file, has it on the disk, and removes it again. */
const look = `
const fs = require('node:fs')
const file = process.argv[1]
const handle = fs.openSync(file, 'wx', 0o600)
try { fs.writeSync(handle, '.'); fs.fsyncSync(handle) } finally { fs.closeSync(handle); fs.unlinkSync(file) }`

/**
 * Call `answers` once the disk of a folder takes a file again: at once, then every 30 s. Another process looks, for whoever touches a
 * disk that does not answer stands still, and no process with such a thread can end. Where no process can be started, it is never called.
 *
 * @returns stops looking
 */
export function whenDiskAnswers(folder: string, answers: () => void, clock: Clock = systemClock): () => void {
  let stopped = false
  const lookOnce = () => {
    if (stopped) return
    const child = startLook(folder)
    child?.unref()
    child?.once('error', again)
    child?.once('exit', (code) => {
      if (code !== 0) again()
      else if (!stopped) answers()
    })
  }
  const again = () => void clock.schedule(lookOnce, lookEveryMs)
  lookOnce()
  return () => {
    stopped = true
  }
}

/** Undefined where processes are not allowed. */
function startLook(folder: string): ChildProcess | undefined {
  try {
    const file = join(folder, `.look-${process.pid}-${Date.now()}`)
    const setting = { timeout: patienceMs, killSignal: 'SIGKILL', env: { ...process.env, NODE_OPTIONS: '' } } as const
    return spawn(process.execPath, ['-e', look, file], { stdio: 'ignore', detached: true, ...setting })
  } catch {
    return undefined
  }
}
