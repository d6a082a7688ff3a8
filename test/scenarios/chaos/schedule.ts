import { seeded } from '../../support/seeded.js'
import type { ServerFault } from './chaos-server.js'

const status = (code: number, headers: Record<string, string> = {}): ServerFault => ({
  type: 'answer',
  status: code,
  headers,
})

/** The faults of the server, by name. */
export const serverFaults: Readonly<Record<string, ServerFault>> = {
  'status 500': status(500),
  'status 503': status(503, { 'retry-after': '0' }),
  'status 429': status(429),
  'status 401': status(401),
  'status 412': status(412),
  'every third refused': { type: 'refuse' },
  'reset before the answer': { type: 'reset-before-answer' },
  'reset after the record was taken': { type: 'reset-after-commit' },
  'reset in the body': { type: 'reset-in-body' },
  'end in the body': { type: 'fin-in-body' },
  'end in the head': { type: 'fin-in-head' },
  'bytes that are not HTTP': { type: 'garbage' },
  'answer of 50 MB': { type: 'oversized' },
  silence: { type: 'silence' },
  deafness: { type: 'deafness' },
  'answer byte by byte': { type: 'trickle', everyMs: 5 },
  'late answer': { ...status(201), afterMs: 60 } as ServerFault,
  'announced close': { type: 'close', announced: true },
  'unannounced close': { type: 'close', announced: false },
  'server down': { type: 'down' },
}

/** Events that happen to the process and its disk. */
export const disturbances = [
  'SIGKILL',
  'SIGSTOP and SIGCONT',
  'SIGTERM',
  'process.exit()',
  'uncaught exception',
  'natural end',
  'clock a day forward',
  'clock a day back',
  'two processes on one folder',
  'disk full',
  'read-only folder',
  'ulimit -f',
  'folder deleted',
] as const
export type Disturbance = (typeof disturbances)[number]

/** A period with one fault of the server and one disturbance of the process. */
export interface Step {
  readonly fault: string
  /** The share of the requests that the fault hits. */
  readonly share: number
  readonly disturbance: Disturbance
  /** Records of each way. */
  readonly burst: number
  /** From the start of the bursts to the disturbance, in microseconds. */
  readonly afterMicroseconds: number
}

export interface Schedule {
  readonly seed: number
  readonly steps: readonly Step[]
  /** The heir delivers the records that are left on disk after all faults have ended. */
  readonly heir: 'a new process' | 'sluice replay'
}

/** The options of an application: a second of a schedule is a minute of usual ones. */
export const quickOptions = {
  retryBaseMs: 5,
  retryCapMs: 50,
  probeBaseMs: 50,
  probeCapMs: 200,
  requestTimeoutMs: 250,
  shutdownTimeoutMs: 1000,
} as const

const stepsOfSchedule = 3

/** Equal seeds give equal schedules. Consecutive seeds go through all faults in turn, so that none is missed by chance. */
export function scheduleOf(seed: number): Schedule {
  const random = seeded(seed)
  const faults = Object.keys(serverFaults)
  const steps = Array.from({ length: stepsOfSchedule }, (_, index): Step => {
    const turn = seed * stepsOfSchedule + index
    return {
      fault: faults[turn % faults.length]!,
      share: random() < 0.5 ? 1 : 0.3,
      disturbance: disturbances[turn % disturbances.length]!,
      burst: 20 + Math.floor(random() * 150),
      afterMicroseconds: Math.floor(random() * 150_000),
    }
  })
  return { seed, steps, heir: random() < 0.5 ? 'a new process' : 'sluice replay' }
}
