import { Delivery } from '../delivery/delivery.js'
import type { LaneName, Ledger } from '../delivery/ledger.js'
import type { DeliveryPlan, FlushTime } from '../delivery/plan.js'
import type { Sender } from '../delivery/sender.js'
import type { ExitLoop } from '../http/exit-loop.js'
import { noBacking } from '../log/backing.js'
import { KeyWriter } from '../log/idempotency-key.js'
import type { ResolvedOptions } from '../options/options.js'
import { type Files, nodeFiles } from '../runtime/files.js'
import { Spool, type SpoolPlan } from '../spool/spool.js'
import type { EndStep } from './ports.js'
import type { EnginePosition } from './worker-position.js'

/** The end of a process: a loop that goes on while this thread is blocked, and a sender over it. */
export interface ExitWay {
  readonly loop: ExitLoop
  readonly sender: Sender
  /** Why it delivered nothing more, where that is not the service's fault. */
  trouble(): string | undefined
}

export interface EngineSpoolPlan {
  readonly options: ResolvedOptions
  /** The folder of the spools. */
  readonly spoolDir: string
  readonly lanes: readonly LaneName[]
  /** Shows that the worker waits for the disk. @default nowhere */
  readonly position: EnginePosition | undefined
  readonly report: (text: string) => void
  /** What a spool uses of it. */
  readonly machine: Required<Pick<SpoolPlan, 'clock' | 'random' | 'files' | 'owners'>>
}

export interface EngineDeliveryPlan extends Omit<DeliveryPlan, 'backing'> {
  /** Undefined where records are in memory alone. */
  readonly spool: EngineSpoolPlan | undefined
  /** Close the sender of this thread, and start one that goes on while it is blocked. Undefined when none starts within `withinMs`. */
  readonly startExit: (withinMs: number) => ExitWay | undefined
}

const noThread = 'no thread can start to deliver them at the exit: allow threads, or await close() before it'
const noTime = 'the thread that delivers at the exit did not start in time'
const hourMs = 3_600_000

/** A {@link Delivery} with the spool of its engine, and the loop that goes on at the end of the process. */
export class EngineDelivery extends Delivery {
  readonly #spool: Spool | undefined
  readonly #plan: EngineDeliveryPlan
  #closing: Promise<Ledger> | undefined

  constructor(plan: EngineDeliveryPlan) {
    const spool = plan.spool && openSpool(plan.spool, new KeyWriter(plan.keyPrefix))
    super({ ...plan, backing: spool ?? noBacking })
    this.#spool = spool
    this.#plan = plan
  }

  /** Open the spool. The engine can take what it reports. */
  start(): void {
    this.#spool?.start(this)
  }

  override async flush(time: FlushTime): Promise<Ledger> {
    this.#spool?.look()
    const ledger = await super.flush(time)
    // A signal may end the process next.
    this.#spool?.acknowledge()
    return ledger
  }

  override park(): Ledger {
    if (this.#spool === undefined) return this.stats()
    this.#spool.look()
    super.park()
    this.#spool.acknowledge()
    return this.stats()
  }

  override close(time: FlushTime): Promise<Ledger> {
    if (this.#closing === undefined) this.#spool?.look()
    const closed = super.close(time)
    this.#closing ??= closed.then(() => {
      this.#spool?.close()
      return this.stats()
    })
    return this.#closing
  }

  override leave(): void {
    this.#spool?.look()
    super.leave()
    this.#spool?.close()
  }

  /** Deliver while this thread is blocked. What is left stays queued: {@link leave} comes next. */
  endSync({ timeoutMs, ...time }: FlushTime): EndStep {
    const { loop, startExit } = this.#plan
    const deadline = loop.now() + timeoutMs
    const { queued, inFlight } = this.stats()
    if (queued + inFlight === 0 || timeoutMs === 0) return () => true
    this.abandon()
    const exit = startExit(timeoutMs)
    if (exit === undefined) {
      this.failed(loop.now() < deadline ? noThread : noTime)
      return () => true
    }
    const step = this.drainSync(exit.loop, exit.sender, { ...time, timeoutMs: deadline - loop.now() })
    return (waitMs) => {
      if (!step(waitMs)) return false
      const trouble = exit.trouble()
      if (trouble !== undefined && this.stats().queued > 0) this.failed(trouble)
      exit.loop.close()
      return true
    }
  }
}

function openSpool({ options, spoolDir, lanes, position, report, machine }: EngineSpoolPlan, keys: KeyWriter): Spool {
  const { files } = machine
  return new Spool({
    ...machine,
    dir: spoolDir,
    url: options.url,
    lanes,
    keys,
    maxBytes: options.spoolMaxBytes,
    maxAgeMs: options.spoolMaxAgeHours * hourMs,
    sync: options.spoolSync,
    wallClock: Date.now,
    files: position === undefined ? files : filesOnDisk(files, (work) => position.worker.onDisk(position.engine, work)),
    report,
  })
}

/** While a file system is used, the worker's position says so: a disk that stalls stops the thread. */
function filesOnDisk(files: Files, onDisk: <Result>(work: () => Result) => Result): Files {
  const names = Object.keys(nodeFiles) as (keyof Files)[]
  const wrapped = names.map((name) => {
    const work = files[name].bind(files) as (...given: unknown[]) => unknown
    return [name, (...given: unknown[]) => onDisk(() => work(...given))]
  })
  return Object.fromEntries(wrapped) as Files
}
