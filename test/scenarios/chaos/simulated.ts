import type { Fault } from '../../simulation/faults.js'
import {
  type Burst,
  type PlannedProcess,
  plainService,
  type Schedule as SimulationSchedule,
} from '../../simulation/schedule.js'
import { seeded } from '../../support/seeded.js'
import type { Way } from './oracle.js'
import { type Disturbance, quickOptions, type Schedule, type Step } from './schedule.js'

/** The same schedule for the simulator. Its moments are only near those of a real run, which nobody can repeat exactly. */
export function simulated(schedule: Schedule): SimulationSchedule {
  return new Translation(schedule).schedule()
}

type ServiceFault = Fault & { readonly on: 'service' }

/** The faults of the server that have a counterpart of another name. */
const serviceFaults: Readonly<Record<string, ServiceFault['kind']>> = {
  'status 500': '500 before commit',
  'status 503': '503',
  'status 429': '429',
  'status 401': '401',
  'status 412': '412',
  'reset before the answer': 'reset before commit',
  'reset after the record was taken': 'reset after commit',
  'reset in the body': 'reset in the body',
  'end in the body': 'end in the body',
  'end in the head': 'end in the head',
  'bytes that are not HTTP': 'garbage after commit',
  'answer of 50 MB': 'long answer',
  silence: 'hung before commit',
  deafness: 'hung before commit',
  'late answer': 'late',
  'announced close': 'announced closes',
  'unannounced close': 'unannounced closes',
}

/** Each process that ends in a step has ended when the next one begins. */
const stepMs = 4000
/** From the start of an application until it logs. */
const readyMs = 300
/** Between two records of one way. */
const everyMs = 0.05

/** An application has two engines: one in the worker of pino's target, and one behind winston and `track`. */
const modes = { target: ['pino'], worker: ['winston', 'track'] } as const satisfies Record<string, readonly Way[]>

interface Application {
  readonly first: number
  readonly startsAt: number
}

class Translation {
  readonly #schedule: Schedule
  readonly #random: () => number
  readonly #processes: PlannedProcess[] = []
  readonly #bursts: Burst[] = []
  readonly #faults: Fault[] = []
  #nextId = 1

  constructor(schedule: Schedule) {
    this.#schedule = schedule
    this.#random = seeded(schedule.seed ^ 0x5f3759df)
  }

  schedule(): SimulationSchedule {
    const { steps, seed } = this.#schedule
    let application: Application | undefined = this.#start(0)
    for (const [index, step] of steps.entries()) {
      const from = index * stepMs
      this.#troubleServer(step, from)
      if (step.disturbance === 'read-only folder' || step.disturbance === 'ulimit -f') {
        if (application !== undefined) this.#end(application, { end: 'signal', endsAt: from })
        application = undefined
        this.#troubleDisk(step.disturbance === 'ulimit -f' ? 'EFBIG' : 'EROFS', { at: from + 1, forMs: stepMs - 2 })
      }
      application ??= this.#start(from + 1)
      const at = from + readyMs
      this.#log(application, { at, count: step.burst, refused: step.fault === 'every third refused' })
      const loggedAt = at + step.burst * everyMs
      const ends = this.#disturb(step.disturbance, { application, at: at + step.afterMicroseconds / 1000, loggedAt })
      if (ends) application = undefined
    }
    const healsAt = steps.length * stepMs
    if (application !== undefined) this.#end(application, { end: 'signal', endsAt: healsAt - 2 })
    this.#log(this.#start(healsAt - 1), { at: healsAt + readyMs, count: 1, refused: false })
    return {
      seed,
      options: { ...quickOptions, spoolDir: '/spool' },
      // The server knows no keys.
      service: { ...plainService, echoesKeys: false, honoursKeys: false },
      latencyMs: [0.05, 0.1],
      processes: this.#processes,
      bursts: this.#bursts,
      flushes: [],
      faults: this.#faults.sort((a, b) => a.at - b.at),
      healsAt,
    }
  }

  #troubleServer({ fault, share }: Step, from: number): void {
    const span = { at: from, forMs: stepMs - 1 }
    if (fault === 'every third refused') this.#faults.push({ on: 'records', kind: '400', ...span })
    else if (fault === 'answer byte by byte') {
      this.#faults.push({ on: 'network', kind: 'single bytes', chance: 1, ...span })
    } else if (fault === 'server down') {
      this.#faults.push({ on: 'service', kind: 'deploy', chance: 0.5, backend: undefined, ...span })
    } else {
      const kind = serviceFaults[fault]
      if (kind === undefined) throw new Error(`the simulator has no ${fault}`)
      this.#faults.push({ on: 'service', kind, chance: share, backend: undefined, ...span })
    }
  }

  #troubleDisk(
    kind: (Fault & { readonly on: 'disk' })['kind'],
    span: { readonly at: number; readonly forMs: number },
  ): void {
    this.#faults.push({ on: 'disk', kind, chance: 1, ...span })
  }

  #start(startsAt: number): Application {
    const first = this.#processes.length
    for (const mode of ['target', 'worker'] as const) {
      this.#processes.push({ mode, startsAt, end: 'stays', endsAt: startsAt, starts: [] })
    }
    return { first, startsAt }
  }

  #end({ first }: Application, plan: Pick<PlannedProcess, 'end' | 'endsAt'>): void {
    for (const number of [first, first + 1]) this.#processes[number] = { ...this.#processes[number]!, ...plan }
  }

  #log(
    { first }: Application,
    { at, count, refused }: { readonly at: number; readonly count: number; readonly refused: boolean },
  ): void {
    for (const [index, mode] of (['target', 'worker'] as const).entries()) {
      for (const by of modes[mode]) {
        const records = Array.from({ length: count }, () => {
          const id = this.#nextId++
          return { id, by, level: 30, message: `r#${id} ${refused && id % 3 === 0 ? 'poison ' : ''}of the burst` }
        })
        this.#bursts.push({ process: first + index, at, everyMs, records })
      }
    }
  }

  /** Returns true where the application ends. */
  #disturb(
    disturbance: Disturbance,
    {
      application,
      at,
      loggedAt,
    }: { readonly application: Application; readonly at: number; readonly loggedAt: number },
  ): boolean {
    const later = Math.max(at, loggedAt) + 1
    const end = (how: PlannedProcess['end'], endsAt = at) => {
      this.#end(application, { end: how, endsAt })
      return true
    }
    switch (disturbance) {
      case 'SIGKILL':
        return end('kill')
      case 'SIGTERM':
        return end('signal')
      case 'process.exit()':
      case 'uncaught exception':
        return end('exit')
      case 'natural end':
        return end('close')
      case 'SIGSTOP and SIGCONT': {
        const forMs = 100 + this.#random() * 300
        for (const process of [application.first, application.first + 1]) {
          this.#faults.push({ on: 'process', kind: 'freeze', process, operations: 1, at, forMs })
        }
        return false
      }
      case 'clock a day forward':
      case 'clock a day back': {
        const kind = disturbance === 'clock a day back' ? 'back' : 'forward'
        this.#faults.push({ on: 'clock', kind, at, forMs: stepMs / 2 })
        return false
      }
      case 'two processes on one folder': {
        const other = this.#start(at)
        this.#log(other, { at: at + readyMs, count: Math.ceil(this.#random() * 100), refused: false })
        this.#end(other, { end: this.#random() < 0.5 ? 'kill' : 'close', endsAt: at + readyMs + 10 })
        return false
      }
      case 'disk full':
        this.#troubleDisk('ENOSPC', { at, forMs: stepMs / 2 })
        return this.#random() < 0.5 ? end('signal', later) : false
      case 'folder deleted':
        this.#troubleDisk('folder deleted', { at, forMs: 0 })
        return end('signal', later)
      case 'read-only folder':
      case 'ulimit -f':
        return end('close', later)
    }
  }
}
