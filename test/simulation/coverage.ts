import { dropReasons } from '../../src/delivery/ledger.js'
import {
  clockFaults,
  diskFaults,
  networkFaults,
  poisons,
  processFaults,
  rareDiskFaults,
  rareServiceFaults,
  serviceFaults,
} from './faults.js'

/** How often each state was reached. */
export type Coverage = Map<string, number>

export function count(coverage: Coverage, name: string, times = 1): void {
  coverage.set(name, (coverage.get(name) ?? 0) + times)
}

const laneStates = ['open', 'outage', 'paused'] as const

/** States that a long run must reach sometimes. One that is never reached is a gap of the simulator, or dead code. */
export function expectedStates(): string[] {
  const faults = [
    ...networkFaults.map((kind) => `network ${kind}`),
    ...[...serviceFaults, ...rareServiceFaults].map((kind) => `service ${kind}`),
    ...[...diskFaults, ...rareDiskFaults].map((kind) => `disk ${kind}`),
    ...processFaults.map((kind) => `process ${kind}`),
    ...clockFaults.map((kind) => `clock ${kind}`),
    ...poisons.map((kind) => `records ${kind}`),
  ]
  return [
    ...faults.flatMap((fault) => laneStates.map((state) => `fault ${fault}, lane ${state}`)),
    ...dropReasons.map((reason) => `dropped ${reason}`),
    ...laneStates.flatMap((from) => laneStates.flatMap((to) => (from === to ? [] : [`lane ${from} > ${to}`]))),
    ...['waiting > connected', 'connected > waiting', 'waiting > inline', 'connected > inline'].map(machine),
    ...['waiting > closed', 'connected > closed', 'inline > closed'].map(machine),
    ...['idle > running', 'running > replacing', 'running > impossible', 'running > idle'].map(machine),
    ...['replacing > running', 'replacing > backoff', 'replacing > idle', 'backoff > running', 'backoff > idle'].map(
      machine,
    ),
    ...['worker', 'inline', 'target'].flatMap((mode) =>
      ends.filter((end) => end !== 'exit' || mode !== 'target').map((end) => `process: ${end} of ${mode}`),
    ),
    'power loss',
    'rejected',
    'adopted',
    'spooled',
    'ambiguous retry',
    'logged while a signal is drained',
  ]
}

// At an exit, pino closes its target.
const ends = ['close', 'exit', 'signal', 'kill']

function machine(transition: string): string {
  return `machine ${transition}`
}
