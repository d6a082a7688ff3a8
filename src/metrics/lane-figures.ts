import { type Counts, type LaneReport, type LaneState, type Ledger, sumLedger } from '../delivery/ledger.js'
import type { RecordKind } from '../records/wire.js'

/** All lanes of one kind and bucket, of every engine of the process, as one. */
export interface LaneFigures extends Counts {
  readonly kind: RecordKind
  readonly bucket: string
  /** The worst state of the lanes: `closed` only where all are. */
  readonly state: LaneState
  /** Connections that they may use now. */
  readonly connections: number
  /** The last failure of the lane with the worst state. */
  readonly lastError: string | undefined
}

/** The worst first. */
export const laneStates: readonly LaneState[] = ['paused', 'outage', 'open', 'closed']

/** The figures of a ledger by kind and bucket. Engines may have lanes with the same name, and those that are closed stay in the ledger. */
export function laneFigures({ lanes }: Pick<Ledger, 'lanes'>): LaneFigures[] {
  const groups = new Map<string, LaneReport[]>()
  for (const lane of lanes) {
    const name = `${lane.kind}/${lane.bucket}`
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [lane])
    else group.push(lane)
  }
  return [...groups.values()].map(figuresOf)
}

function figuresOf(lanes: readonly LaneReport[]): LaneFigures {
  const worst = lanes.reduce((before, lane) => (rank(lane) < rank(before) ? lane : before))
  const { kind, bucket, state, lastError } = worst
  const sending = lanes.filter((lane) => lane.state !== 'closed')
  const connections = sending.reduce((sum, lane) => sum + lane.connections, 0)
  return { ...sumLedger(lanes, 0), kind, bucket, state, connections, lastError }
}

function rank({ state }: LaneReport): number {
  return laneStates.indexOf(state)
}
