import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { Engine, type EngineSetting } from '../engine/engine.js'
import { type Machine, thisMachine } from '../engine/machine.js'
import type { WorkerPosition } from '../engine/worker-position.js'
import { Secret } from '../options/secret.js'
import type { PinoStyle } from '../records/pino-line.js'
import { systemClock } from '../runtime/clock.js'
import { deliverLine, type Frame, isRecord, readFrame } from './frames.js'
import { ClosedFlag, type EnginePlan, type WorkerMessage } from './protocol.js'

export interface WorkerEnginePlan {
  /** Its number. */
  readonly engine: number
  readonly position: WorkerPosition
  /** Posts a message to the application's side. */
  readonly post: (message: WorkerMessage) => void
  /** Called when the engine is closed: no line comes for it any more. */
  readonly closed: () => void
  /** @default this one */
  readonly machine?: Machine | undefined
  /** Watches a stalled disk. @default a separate process */
  readonly watchDisk?: typeof whenDiskAnswers
}

type Drain = Frame & { readonly type: 'drain' }

/** One engine in the delivery worker. Lines that come before it is opened wait. */
export class WorkerEngine {
  readonly #plan: WorkerEnginePlan
  readonly #styles: PinoStyle[] = []
  readonly #waiting: string[] = []
  /** The last one takes the lines. One without a spool is before it where the disk did not answer at first. */
  readonly #engines: Engine[] = []
  #closedFlag: ClosedFlag | undefined
  #stopProbing = () => {}

  constructor(plan: WorkerEnginePlan) {
    this.#plan = plan
  }

  open(plan: EnginePlan): void {
    const { spoolDir } = plan.options
    this.#closedFlag = new ClosedFlag(plan.closed)
    this.#start(plan, plan.diskIsStalled ? undefined : spoolDir)
    if (plan.diskIsStalled && spoolDir !== undefined) {
      const { watchDisk = whenDiskAnswers } = this.#plan
      this.#stopProbing = watchDisk(spoolDir, () => this.#start(plan, spoolDir))
    }
    for (const line of this.#waiting.splice(0)) this.take(line)
  }

  /** Take one line: a record, the style of a logger, or a drain. */
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
    const { engine, position, post, machine = thisMachine } = this.#plan
    const setting: EngineSetting = {
      machine,
      memory,
      handedOver: true,
      // The application's side reports the records that its close drops.
      elsewhere: ['shutdown'],
      position: { worker: position, engine },
      listeners: {
        error: (error) => post({ engine, type: 'error', code: error.code, text: error.message }),
        channel: (name, message) => post({ engine, type: 'channel', name, message }),
      },
    }
    const own = { apiKey: new Secret(apiKey), accessToken: undefined, onError: undefined, spoolDir }
    this.#engines.push(new Engine({ ...options, ...own }, setting))
  }

  async #drain({ mode, request, timeoutMs }: Drain): Promise<void> {
    const { engine, post, closed } = this.#plan
    if (mode === 'close') this.#stopProbing()
    await Promise.all(this.#engines.map((each) => each[mode]({ timeoutMs })))
    if (mode === 'close') {
      this.#closedFlag?.raise()
      closed()
    }
    post({ engine, type: 'drained', request })
  }
}

/** Time between two probes of a disk, and the time that each may take. */
const probeEveryMs = 30_000
const probeTimeoutMs = 5_000

/** Writes a file to the disk, and removes it. */
const probe = `
const fs = require('node:fs')
const file = process.argv[1]
const handle = fs.openSync(file, 'wx', 0o600)
try { fs.writeSync(handle, '.'); fs.fsyncSync(handle) } finally { fs.closeSync(handle); fs.unlinkSync(file) }`

/**
 * Call `answers` as soon as the disk of a folder takes a file again. Probes it at once, then every 30 s. A separate process does so: a
 * thread that waits for a stalled disk cannot be ended, and no process ends before all of its threads. Where no process can be started,
 * `answers` is never called.
 *
 * @returns stops the probes
 */
function whenDiskAnswers(folder: string, answers: () => void): () => void {
  let stopped = false
  const probeOnce = () => {
    if (stopped) return
    const child = startProbe(folder)
    child?.unref()
    child?.once('error', again)
    child?.once('exit', (code) => {
      if (code !== 0) again()
      else if (!stopped) answers()
    })
  }
  const again = () => void systemClock.schedule(probeOnce, probeEveryMs)
  probeOnce()
  return () => {
    stopped = true
  }
}

/** Undefined where processes are not allowed. */
function startProbe(folder: string): ChildProcess | undefined {
  try {
    const file = join(folder, `.look-${process.pid}-${Date.now()}`)
    const setting = {
      timeout: probeTimeoutMs,
      killSignal: 'SIGKILL',
      env: { ...process.env, NODE_OPTIONS: '' },
    } as const
    return spawn(process.execPath, ['-e', probe, file], { stdio: 'ignore', detached: true, ...setting })
  } catch {
    return undefined
  }
}
