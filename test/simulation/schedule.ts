import type { SluiceOptions } from '../../src/options/options.js'
import { seeded } from '../support/seeded.js'
import { Choice } from './choice.js'
import { deriveFaults, deriveRareFaults, type Fault, poisons } from './faults.js'
import type { ProcessMode, SimulatedRecord } from './process/simulated-process.js'

/** A process of the schedule. */
export interface PlannedProcess {
  readonly mode: ProcessMode
  readonly startsAt: number
  /** `stays`: it lives until the end of the simulation, and is closed then. */
  readonly end: 'close' | 'exit' | 'signal' | 'kill' | 'stays'
  readonly endsAt: number
  /** How its first workers start. Later ones start as usual. */
  readonly starts: readonly { readonly startMs: number; readonly fails: boolean }[]
}

/** Records that a process logs one after another. */
export interface Burst {
  readonly process: number
  readonly at: number
  readonly everyMs: number
  readonly records: readonly SimulatedRecord[]
}

/** A call of the application. */
export interface Call {
  readonly process: number
  readonly at: number
  readonly timeoutMs: number
}

/** A service: its backends, and how it keeps records. */
export interface PlannedService {
  /** `receiver`: the real one. */
  readonly kind: 'receiver' | 'scripted'
  readonly backends: number
  readonly echoesKeys: boolean
  readonly honoursKeys: boolean
  readonly answerMs: number
  readonly oneByOne: boolean
  /** Requests after which it closes a connection; 0: never. */
  readonly closesAfter: number
  readonly announcesClose: boolean
  /** Time after which it closes an idle connection. */
  readonly keepAliveMs: number
  readonly announcesKeepAlive: boolean
  /** A proxy before it that repeats requests. */
  readonly proxyRetries: boolean
  readonly chunked: boolean
}

/** A service without peculiarities. */
export const plainService: PlannedService = {
  kind: 'scripted',
  backends: 1,
  echoesKeys: true,
  honoursKeys: true,
  answerMs: 1,
  oneByOne: false,
  closesAfter: 0,
  announcesClose: true,
  keepAliveMs: 60_000,
  announcesKeepAlive: true,
  proxyRetries: false,
  chunked: false,
}

/** Everything that happens in a simulation, derived from its seed. A shrunk schedule has less of it. */
export interface Schedule {
  readonly seed: number
  readonly options: SluiceOptions
  /** Most records in one batch. @default as in the library */
  readonly maxBatch?: number
  readonly service: PlannedService
  readonly latencyMs: readonly [number, number]
  readonly processes: readonly PlannedProcess[]
  readonly bursts: readonly Burst[]
  readonly flushes: readonly Call[]
  readonly faults: readonly Fault[]
  /** All faults are over then. */
  readonly healsAt: number
}

/** The schedule of a seed: a random subset of faults and of options, and a random workload. */
export function deriveSchedule(seed: number): Schedule {
  const choice = new Choice(seeded(Math.imul(seed, 0x9e3779b1) ^ 0x5bd1e995))
  const healsAt = choice.chance(0.02) ? 10_000_000 : choice.oneOf([2_000, 20_000, 60_000, 180_000, 600_000])
  const spools = choice.chance(0.5)
  const { maxBatch, ...options } = deriveOptions(choice, spools)
  const processes = deriveProcesses(choice, { healsAt, spools })
  const ids = { next: 0 }
  // A record is far smaller than the bound of memory.
  const longest = Math.min(20_000, (options.maxQueueBytes ?? 1_000_000) / 10)
  const service = deriveService(choice)
  const poison = service.kind === 'scripted' && choice.chance(0.3) ? choice.oneOf(poisons) : undefined
  const bursts = processes.flatMap((process, index) =>
    Array.from({ length: choice.between(1, 4) }, () =>
      deriveBurst(choice, { process, index, ids, poison: poison !== undefined, healsAt, longest }),
    ),
  )
  bursts.push(...deriveLateBursts(seed, { processes, ids }))
  const flushes = Array.from({ length: choice.between(0, 3) }, () => ({
    process: choice.below(processes.length),
    at: choice.real(0, healsAt),
    timeoutMs: choice.oneOf([0, 100, 1000, 5000, 30_000]),
  }))
  const faults = deriveFaults(choice, {
    healsAt,
    spools,
    processes: processes.length,
    backends: service.backends,
    poison,
  })
  const slowest = choice.oneOf([0.2, 5, 50, 50, 400])
  // A round trip takes less than a request may.
  const latency = Math.min(slowest, (options.requestTimeoutMs ?? 10_000) / 10)
  const starts = processes.map(({ startsAt }) => startsAt)
  const real = service.kind === 'receiver'
  const echoes = !real && service.echoesKeys
  faults.push(...deriveRareFaults(choice, { healsAt, starts, spools, echoes, real }))
  faults.sort((a, b) => a.at - b.at)
  return {
    ...{ seed, options, ...(maxBatch === undefined ? {} : { maxBatch }), service },
    ...{ latencyMs: [latency / 2, latency], processes, bursts, flushes, faults, healsAt },
  }
}

function deriveOptions(choice: Choice, spools: boolean): SluiceOptions & Pick<Schedule, 'maxBatch'> {
  const some = <Value>(chance: number, values: readonly Value[], name: keyof SluiceOptions | 'maxBatch') =>
    choice.chance(chance) ? { [name]: choice.oneOf(values) } : {}
  return {
    ...some(0.3, [1, 2, 4], 'maxConnections'),
    ...some(0.3, [1, 4, 16], 'maxBatch'),
    ...some(0.6, [0, 20, 1000, 5000], 'lingerMs'),
    ...some(0.2, ['off'], 'pipelining'),
    ...some(0.25, [10, 30, 100], 'maxQueueRecords'),
    ...some(0.15, [20_000, 100_000], 'maxQueueBytes'),
    ...some(0.3, [500, 2000], 'requestTimeoutMs'),
    ...some(0.3, [500, 2000, 8000], 'shutdownTimeoutMs'),
    ...some(0.3, [10, 100], 'retryBaseMs'),
    ...some(0.3, [1000, 5000], 'retryCapMs'),
    ...choice.oneOf([{}, {}, { probeBaseMs: 1000, probeCapMs: 10_000 }, { probeBaseMs: 5000, probeCapMs: 60_000 }]),
    ...some(0.2, ['none', 'logfmt'], 'context'),
    ...(spools
      ? {
          spoolDir: '/spool',
          ...some(0.4, [true], 'spoolSync'),
          ...some(0.15, [65_536, 300_000], 'spoolMaxBytes'),
          ...some(0.2, [1], 'spoolMaxAgeHours'),
        }
      : {}),
  }
}

function deriveProcesses(choice: Choice, about: { healsAt: number; spools: boolean }): PlannedProcess[] {
  const count = choice.oneOf([1, 1, 1, 2, 3])
  return Array.from({ length: count }, (_, index) => {
    const startsAt = index === 0 ? 0 : choice.real(0, about.healsAt * 0.8)
    const starts = Array.from({ length: choice.oneOf([1, 1, 1, 3]) }, () => ({
      startMs: choice.chance(0.1) ? choice.oneOf([3500, 20_000, 70_000]) : choice.real(20, 200),
      fails: choice.chance(0.05),
    }))
    return {
      mode: choice.oneOf(['worker', 'worker', 'inline', 'target'] as const),
      startsAt,
      end: choice.oneOf(['close', 'exit', 'signal', 'kill', 'stays', 'stays', 'stays'] as const),
      endsAt: choice.real(startsAt, about.healsAt),
      starts,
    }
  })
}

function deriveBurst(
  choice: Choice,
  about: {
    process: PlannedProcess
    index: number
    ids: { next: number }
    poison: boolean
    healsAt: number
    longest: number
  },
): Burst {
  const { process, index, ids, poison, healsAt, longest } = about
  const until = process.end === 'stays' ? healsAt : process.endsAt
  const count = choice.oneOf([1, 3, 10, 30, 60])
  const by = choice.oneOf(['pino', 'winston', 'track', 'all', 'all'] as const)
  const long = choice.chance(0.1)
  const records = Array.from({ length: count }, () => {
    const id = ids.next++
    const sign = process.mode === 'worker' && choice.chance(0.003) ? choice.oneOf(['☠', '⌛']) : ''
    const bad = poison && choice.chance(0.05) ? 'poison ' : ''
    const text = 'x'.repeat(long ? choice.between(100, longest) : choice.between(0, 60))
    return {
      id,
      by: by === 'all' ? choice.oneOf(['pino', 'winston', 'track'] as const) : by,
      level: choice.oneOf([10, 20, 30, 30, 40, 50, 60]),
      message: `r#${id} ${bad}${sign}${text}`,
    }
  })
  const at = choice.real(process.startsAt, until)
  return { process: index, at, everyMs: choice.oneOf([0, 0, 1, 50, 1000]), records }
}

/** Half of the applications that end by a signal log on while it is drained. */
function deriveLateBursts(
  seed: number,
  { processes, ids }: { processes: readonly PlannedProcess[]; ids: { next: number } },
): Burst[] {
  const choice = new Choice(seeded(Math.imul(seed, 0x85ebca6b) ^ 0xc2b2ae35))
  return processes.flatMap(({ end, endsAt }, process) => {
    if (end !== 'signal' || choice.chance(0.5)) return []
    const by = choice.oneOf(['pino', 'winston', 'track'] as const)
    const records = Array.from({ length: choice.oneOf([30, 100, 300]) }, () => {
      const id = ids.next++
      return { id, by, level: 30, message: `r#${id} ` }
    })
    return [{ process, at: Math.max(0, endsAt - 20), everyMs: choice.oneOf([1, 10, 50]), records }]
  })
}

function deriveService(choice: Choice): PlannedService {
  const real = choice.chance(0.3)
  const echoes = real || choice.chance(0.6)
  return {
    kind: real ? 'receiver' : 'scripted',
    backends: choice.oneOf([1, 1, 2, 3]),
    echoesKeys: echoes,
    honoursKeys: real || (echoes && choice.chance(0.8)),
    answerMs: choice.oneOf([0, 1, 10, 100]),
    oneByOne: choice.chance(0.3),
    closesAfter: choice.chance(0.2) ? choice.oneOf([1, 5, 100]) : 0,
    announcesClose: choice.chance(0.5),
    keepAliveMs: choice.oneOf([5000, 5000, 60_000, 3000]),
    announcesKeepAlive: choice.chance(0.5),
    proxyRetries: !real && choice.chance(0.1),
    chunked: choice.chance(0.2),
  }
}
