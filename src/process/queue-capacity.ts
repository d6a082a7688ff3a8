import type { ResolvedOptions } from '../options/options.js'

/** The most that engines hold in memory, in flight included. */
export interface QueueCapacity {
  readonly records: number
  readonly bytes: number
}

/** The capacity of several engines together. */
export function sumCapacity(capacities: readonly QueueCapacity[]): QueueCapacity {
  const total = (read: (capacity: QueueCapacity) => number) => capacities.reduce((sum, each) => sum + read(each), 0)
  return { records: total(({ records }) => records), bytes: total(({ bytes }) => bytes) }
}

/** The most that an engine with these options holds. */
export function capacityOf(options: Pick<ResolvedOptions, 'maxQueueRecords' | 'maxQueueBytes'>): QueueCapacity {
  return { records: options.maxQueueRecords, bytes: options.maxQueueBytes }
}
