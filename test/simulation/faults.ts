import type { Choice } from './choice.js'

/** Faults of connections, with a chance for each new one. */
export const networkFaults = [
  'refuse',
  'dns',
  'black hole',
  'reset early',
  'reset late',
  'fin',
  'slow',
  'single bytes',
] as const
/** Faults of a backend of the service, or of all. */
export const serviceFaults = [
  '500 before commit',
  '500 after commit',
  '503',
  '429',
  '429 with seconds',
  '429 with date',
  '401',
  '403',
  '404',
  '412',
  'hung before commit',
  'hung after commit',
  'slow',
  'garbage',
  'html',
  'result false',
  'hasty close',
  'HTTP/1.0',
  'deploy',
] as const
/** Faults of a backend that only some schedules have. */
export const rareServiceFaults = [
  'surplus answer',
  'reset before commit',
  'reset after commit',
  'garbage after commit',
  'end in the head',
  'end in the body',
  'reset in the body',
  'long answer',
  'announced closes',
  'unannounced closes',
  'late',
  '400 page',
  '504 after commit',
] as const
/** It dies as it claims one of its next locks: one for each folder that it makes or takes over. */
export const rareProcessFaults = ['killed in a claim'] as const
/** Faults of the disk under the spool. */
export const diskFaults = [
  'ENOSPC',
  'EDQUOT',
  'EIO at write',
  'EIO at fsync',
  'EIO at close',
  'EIO at read',
  'EROFS',
  'slow',
  'hung',
] as const
/** Faults of the disk that only some schedules have. */
export const rareDiskFaults = ['EFBIG', 'folder deleted'] as const
/** Faults of the machine's clock: it jumps by a day, and back when the fault is over. */
export const clockFaults = ['forward', 'back'] as const
/** Faults of one process. */
export const processFaults = ['freeze', 'worker dies', 'worker hangs', 'killed in a write'] as const

export const poisons = ['500', 'reset', 'hang', '400', '403', '413 page'] as const
export type Poison = (typeof poisons)[number]

/** A fault in a span of time. */
export type Fault = { readonly at: number; readonly forMs: number } & (
  | { readonly on: 'network'; readonly kind: (typeof networkFaults)[number]; readonly chance: number }
  | {
      readonly on: 'service'
      readonly kind: (typeof serviceFaults)[number] | (typeof rareServiceFaults)[number]
      readonly chance: number
      /** Undefined: all. */
      readonly backend: number | undefined
    }
  | { readonly on: 'records'; readonly kind: Poison }
  | {
      readonly on: 'disk'
      readonly kind: (typeof diskFaults)[number] | (typeof rareDiskFaults)[number]
      readonly chance: number
    }
  | { readonly on: 'clock'; readonly kind: (typeof clockFaults)[number] }
  | {
      readonly on: 'process'
      readonly kind: (typeof processFaults)[number] | (typeof rareProcessFaults)[number]
      readonly process: number
      readonly operations: number
    }
  /** All processes lose power. Each starts again. */
  | { readonly on: 'power'; readonly kind: 'loss' }
)

export interface FaultBounds {
  readonly healsAt: number
  readonly spools: boolean
  readonly processes: number
  readonly backends: number
  readonly poison: Poison | undefined
}

/** A random subset of the kinds of fault, and for each kind some faults. */
export function deriveFaults(choice: Choice, bounds: FaultBounds): Fault[] {
  const { healsAt, spools, processes, backends, poison } = bounds
  const faults: Fault[] = poison === undefined ? [] : [{ on: 'records', kind: poison, at: 0, forMs: healsAt * 10 }]
  if (choice.chance(0.1)) return faults
  const span = () => {
    const at = choice.real(0, healsAt)
    return { at, forMs: Math.min(healsAt - at, healsAt * choice.oneOf([0.01, 0.1, 0.5])) }
  }
  const chance = () => choice.oneOf([1, 1, 0.5, 0.1])
  const some = (probability: number, add: () => Fault) => {
    if (!choice.chance(probability)) return
    for (let count = choice.between(1, 3); count > 0; count--) faults.push({ ...add(), ...span() })
  }
  const none = { at: 0, forMs: 0 }
  some(0.4, () => ({ on: 'network', kind: choice.oneOf(networkFaults), chance: chance(), ...none }))
  some(0.5, () => {
    const backend = choice.chance(0.5) ? undefined : choice.below(backends)
    return { on: 'service', kind: choice.oneOf(serviceFaults), chance: chance(), backend, ...none }
  })
  if (spools) some(0.4, () => ({ on: 'disk', kind: choice.oneOf(diskFaults), chance: chance(), ...none }))
  some(0.3, () => {
    const kind = choice.oneOf(processFaults.filter((each) => spools || each !== 'killed in a write'))
    return { on: 'process', kind, process: choice.below(processes), operations: choice.between(1, 40), ...none }
  })
  if (spools && choice.chance(0.15)) faults.push({ on: 'power', kind: 'loss', at: choice.real(0, healsAt), forMs: 0 })
  return faults.sort((a, b) => a.at - b.at)
}

/** Faults that only some schedules have. They are drawn last, so that all else in a schedule stays as it is. */
export function deriveRareFaults(
  choice: Choice,
  plan: {
    readonly healsAt: number
    readonly starts: readonly number[]
    readonly spools: boolean
    readonly echoes: boolean
    readonly real: boolean
  },
): Fault[] {
  const { healsAt, starts, spools, echoes, real } = plan
  const faults: Fault[] = []
  // Without the keys, nobody can tell a late surplus answer from the next one.
  if (echoes && choice.chance(0.05)) {
    const at = choice.real(0, healsAt / 2)
    const forMs = healsAt / 2
    faults.push({
      on: 'service',
      kind: 'surplus answer',
      chance: choice.oneOf([1, 0.5, 0.1]),
      backend: undefined,
      at,
      forMs,
    })
  }
  // A later process dies while it takes over what others have left.
  for (const [process, startsAt] of starts.entries()) {
    if (process === 0 || !spools || !choice.chance(0.3)) continue
    const operations = choice.between(1, 6)
    faults.push({ on: 'process', kind: 'killed in a claim', process, operations, at: startsAt + 1, forMs: 0 })
  }
  const span = () => ({ at: choice.real(0, healsAt * 0.9), forMs: healsAt * 0.1 })
  if (choice.chance(0.15)) {
    const kind = choice.oneOf(rareServiceFaults.filter((each) => each !== 'surplus answer'))
    faults.push({ on: 'service', kind, chance: choice.oneOf([1, 0.5, 0.1]), backend: undefined, ...span() })
  }
  if (spools && choice.chance(0.05)) {
    faults.push({ on: 'disk', kind: choice.oneOf(rareDiskFaults), chance: 1, ...span() })
  }
  // The real receiver forgets keys after a day of its clock, which is the simulation's.
  if (choice.chance(0.03) && !real) faults.push({ on: 'clock', kind: choice.oneOf(clockFaults), ...span() })
  return faults
}
