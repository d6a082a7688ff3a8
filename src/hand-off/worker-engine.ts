import { Engine } from '../engine/engine.js'
import type { EngineSetting } from '../engine/engine-setting.js'
import { type Machine, thisMachine } from '../engine/machine.js'
import type { WorkerPosition } from '../engine/worker-position.js'
import { Secret } from '../options/secret.js'
import type { PinoStyle } from '../records/pino-line.js'
import { PlainFrames } from './frame-bytes.js'
import { deliverLine, type Frame, isRecord, readFrame } from './frames.js'
import { newsReporter } from './news.js'
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
}

type Drain = Frame & { readonly type: 'drain' }

/** One engine in the delivery worker. Lines that come before it is opened wait. */
export class WorkerEngine {
  readonly #plan: WorkerEnginePlan
  readonly #styles: PinoStyle[] = []
  readonly #waiting: string[] = []
  /** The last one takes the lines. One without a spool is before it where the disk did not answer at first. */
  readonly #engines: Engine[] = []
  /** Reads the plain lines for the last engine. */
  #plain: PlainFrames | undefined
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
      const { machine = thisMachine } = this.#plan
      this.#stopProbing = machine.whenDiskAnswers(spoolDir, () => this.#start(plan, spoolDir))
    }
    for (const line of this.#waiting.splice(0)) this.#takeText(line)
  }

  /** Take one line, which stands in `lines` from `from` to `end`: a record, the style of a logger, or a drain. */
  take(lines: Buffer, from: number, end: number): void {
    try {
      if (this.#plain?.take(lines, from, end)) return
    } catch {
      // The slow way makes a record of every line.
    }
    this.#takeText(lines.toString('utf8', from, end))
  }

  #takeText(line: string): void {
    const engine = this.#engines[this.#engines.length - 1]
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
      position: { worker: position, engine },
      reporter: (warn) =>
        newsReporter({ clock: machine.clock, post: (news) => post({ engine, type: 'news', news }), warn }),
    }
    const own = {
      apiKey: new Secret(apiKey.text, apiKey.file),
      onError: undefined,
      waitUntil: undefined,
      spoolDir,
    }
    const opened = new Engine({ ...options, ...own }, setting)
    this.#engines.push(opened)
    this.#plain = new PlainFrames(opened, this.#styles)
  }

  async #drain({ mode, request, timeoutMs, brief }: Drain): Promise<void> {
    const { engine, post, closed } = this.#plan
    if (mode === 'close') this.#stopProbing()
    await Promise.all(this.#engines.map((each) => each[mode]({ timeoutMs, brief })))
    if (mode === 'close') {
      this.#closedFlag?.raise()
      closed()
    }
    post({ engine, type: 'drained', request })
  }
}
