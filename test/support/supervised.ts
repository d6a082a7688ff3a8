import type { EngineClient, FailedWorker, LostRecords } from '../../src/hand-off/delivery-thread.js'
import type { EnginePlan, WorkerMessage } from '../../src/hand-off/protocol.js'
import { Supervisor } from '../../src/hand-off/supervisor.js'
import type { Link, WorkerLinkPlan } from '../../src/hand-off/worker-link.js'
import { settle, VirtualClock } from './virtual-clock.js'

/** A worker that fails when the test says so. */
export class FakeLink implements Link {
  readonly plan: WorkerLinkPlan
  readonly opened: { readonly engine: number; readonly plan: EnginePlan }[] = []
  atDiskOf: number | undefined
  outlivesItsEnd = false
  answers = true
  /** Calls of `watch`. */
  watched = 0
  /** How long it was waited for its answers. */
  readonly patience: number[] = []
  terminated = false
  /** True when it was terminated without an event loop. */
  terminatedSync = false
  /** Resolves when its thread is gone. */
  termination: Promise<void> = Promise.resolve()

  constructor(plan: WorkerLinkPlan) {
    this.plan = plan
  }

  open(engine: number, plan: EnginePlan): void {
    this.opened.push({ engine, plan })
  }

  watch(): void {
    this.watched++
  }

  startsSync(): boolean {
    return this.answers
  }

  answersSync(patienceMs: number): boolean {
    this.patience.push(patienceMs)
    return this.answers
  }

  catchUp(): void {}

  terminate(): Promise<void> {
    this.terminated = true
    return this.termination
  }

  terminateSync(): void {
    this.terminated = true
    this.terminatedSync = true
  }
}

/** Notes the calls that it gets. */
export class FakeClient implements EngineClient {
  readonly options: { readonly spoolDir: string | undefined }
  readonly calls: string[] = []
  readonly failures: FailedWorker[] = []
  busy = false
  taking: number | undefined
  records: LostRecords = { lost: 0, spooled: 0, unreadable: 0 }

  constructor(spoolDir?: string) {
    this.options = { spoolDir }
  }

  plan({ diskIsStalled }: { diskIsStalled: boolean }): EnginePlan {
    return { diskIsStalled } as EnginePlan
  }

  attached(): void {
    this.calls.push('attached')
  }

  detached(): void {
    this.calls.push('detached')
  }

  workerFailed(worker: FailedWorker): LostRecords {
    this.calls.push('lost')
    this.failures.push(worker)
    return this.records
  }

  cannotStart(): void {
    this.calls.push('cannot start')
  }

  readonly messages: WorkerMessage[] = []

  received(message: WorkerMessage): void {
    this.messages.push(message)
  }
}

export function superviseFakes({ refuses = () => false }: { refuses?: () => boolean } = {}) {
  const clock = new VirtualClock()
  const links: FakeLink[] = []
  const printed: string[] = []
  const supervisor = new Supervisor({
    clock,
    print: (text) => printed.push(text),
    start(plan) {
      if (refuses()) throw new Error('not allowed')
      const link = new FakeLink(plan)
      links.push(link)
      return link
    },
  })
  const join = (spoolDir?: string) => {
    const client = new FakeClient(spoolDir)
    const engine = supervisor.join(client)
    supervisor.connect(engine)
    return { client, engine }
  }
  const fail = async (reason = 'it has died', { cannotStart = false } = {}) => {
    links.at(-1)!.plan.failed({ reason, cannotStart })
    await settle()
  }
  return { clock, links, printed, supervisor, join, fail }
}
