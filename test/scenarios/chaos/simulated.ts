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

/** A process that ends has ended after this time at the latest. */
const endMs = 1500
/** From the start of an application until it logs. */
const readyMs = 300
/** The disk is full, or the clock wrong, for so long. */
const troubleMs = 500
/** The server and the application of a real run share two busy cores. */
const busyAnswerMs = 150
/** Between two records of one way. */
const everyMs = 0.05

/** An application has two engines: one in the worker of pino's target, and one behind winston and `track`. */
const modes = { target: ['pino'], worker: ['winston', 'track'] } as const satisfies Record<string, readonly Way[]>

interface Span {
  readonly at: number
  readonly forMs: number
}

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
    let from = readyMs
    for (const step of steps) {
      const { disturbance, burst, afterMicroseconds, fault } = step
      const isTroubled = disturbance === 'read-only folder' || disturbance === 'ulimit -f'
      const startsAt = isTroubled && application !== undefined ? from + endMs : from
      if (isTroubled && application !== undefined) {
        this.#end(application, { end: 'signal', endsAt: from })
        application = undefined
      }
      const at = application === undefined ? startsAt + readyMs : startsAt
      application ??= this.#start(startsAt)
      this.#log(application, { at, count: burst, refused: fault === 'every third refused' })
      const loggedAt = at + burst * everyMs
      const disturbed = this.#disturb(disturbance, { application, at: at + afterMicroseconds / 1000, loggedAt })
      const until = Math.max(loggedAt, at + afterMicroseconds / 1000 + disturbed.forMs)
      this.#troubleServer(step, { at: from, forMs: until - from })
      if (isTroubled) {
        this.#troubleDisk(disturbance === 'ulimit -f' ? 'EFBIG' : 'EROFS', {
          at: startsAt - 1,
          forMs: until - startsAt,
        })
      }
      if (disturbed.ends) application = undefined
      from = until
    }
    const healsAt = from + endMs
    if (application !== undefined) this.#end(application, { end: 'signal', endsAt: from })
    this.#log(this.#start(healsAt), { at: healsAt + readyMs, count: 1, refused: false })
    return {
      seed,
      options: { ...quickOptions, spoolDir: '/spool' },
      // The server knows no keys.
      service: { ...plainService, echoesKeys: false, honoursKeys: false, answerMs: busyAnswerMs },
      latencyMs: [0.05, 0.1],
      processes: this.#processes,
      bursts: this.#bursts,
      flushes: [],
      faults: this.#faults.sort((a, b) => a.at - b.at),
      healsAt,
    }
  }

  #troubleServer({ fault, share }: Step, span: Span): void {
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

  #troubleDisk(kind: (Fault & { readonly on: 'disk' })['kind'], span: Span): void {
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

  /** Returns how long it takes, and whether the application ends by it. */
  #disturb(
    disturbance: Disturbance,
    {
      application,
      at,
      loggedAt,
    }: { readonly application: Application; readonly at: number; readonly loggedAt: number },
  ): { readonly forMs: number; readonly ends: boolean } {
    const later = Math.max(at, loggedAt) + 1
    const ended = (end: PlannedProcess['end'], endsAt = at) => {
      this.#end(application, { end, endsAt })
      return { forMs: endsAt - at + (end === 'kill' ? 0 : endMs), ends: true }
    }
    switch (disturbance) {
      case 'SIGKILL':
        return ended('kill')
      case 'SIGTERM':
        return ended('signal')
      case 'process.exit()':
      case 'uncaught exception':
        return ended('exit')
      case 'natural end':
        return ended('close')
      case 'SIGSTOP and SIGCONT': {
        const forMs = 100 + this.#random() * 300
        for (const process of [application.first, application.first + 1]) {
          this.#faults.push({ on: 'process', kind: 'freeze', process, operations: 1, at, forMs })
        }
        return { forMs, ends: false }
      }
      case 'clock a day forward':
      case 'clock a day back': {
        const kind = disturbance === 'clock a day back' ? 'back' : 'forward'
        this.#faults.push({ on: 'clock', kind, at, forMs: troubleMs })
        return { forMs: 0, ends: false }
      }
      case 'two processes on one folder': {
        const other = this.#start(at)
        this.#log(other, { at: at + readyMs, count: Math.ceil(this.#random() * 100), refused: false })
        const end = this.#random() < 0.5 ? 'kill' : 'close'
        this.#end(other, { end, endsAt: at + readyMs + 10 })
        return { forMs: readyMs + (end === 'kill' ? 10 : endMs), ends: false }
      }
      case 'disk full':
        this.#troubleDisk('ENOSPC', { at, forMs: troubleMs })
        return this.#random() < 0.5 ? ended('signal', later) : { forMs: 0, ends: false }
      case 'folder deleted':
        this.#troubleDisk('folder deleted', { at, forMs: 0 })
        return ended('signal', later)
      case 'read-only folder':
      case 'ulimit -f':
        return ended('close', later)
    }
  }
}
