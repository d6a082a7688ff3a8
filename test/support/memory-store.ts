import type { Place, Restored, Room, Storable, Store } from '../../src/delivery/store.js'

interface Kept extends Restored {
  readonly lane: number
  state: 'memory' | 'parked' | 'settled'
}

/** A store in memory. It keeps every record, unless it is broken. */
export class MemoryStore implements Store {
  readonly lossReason = 'spool-full'
  readonly kept: Kept[] = []
  broken = false

  keep(lane: number, record: Storable): Place | undefined {
    if (this.broken) return undefined
    const { body, bytes, severity, idempotencyKey } = record
    const kept: Kept = { body, bytes, severity, idempotencyKey, lane, state: 'memory', place: {} }
    this.kept.push(Object.assign(kept, { place: kept }))
    return kept
  }

  look(): void {}

  park(place: Place): boolean {
    const kept = place as Kept
    if (kept.state !== 'memory') throw new Error(`parked, though ${kept.state}`)
    kept.state = 'parked'
    return true
  }

  unpark(lane: number, { records }: Room): readonly Restored[] {
    const parked = this.kept.filter((each) => each.lane === lane && each.state === 'parked')
    const taken = parked.sort((a, b) => b.severity - a.severity).slice(0, records)
    for (const each of taken) each.state = 'memory'
    return taken
  }

  settle(place: Place): boolean {
    const kept = place as Kept
    if (kept.state !== 'memory') throw new Error(`settled, though ${kept.state}`)
    kept.state = 'settled'
    return true
  }

  reject(): void {}

  close(): void {}
}
