import { installProcessHooks } from './process/install.js'

export type { Counts, DropReason, LaneReport, LaneState, Ledger } from './delivery/ledger.js'
export { ConfigError, type ConfigErrorCode } from './errors/config-error.js'
export { SluiceError } from './errors/sluice-error.js'
export type { SluiceOptions } from './options/options.js'
export { type LogRecord, runtimes, type ValidationError, type ValueRecord } from './records/wire.js'
export { defineEvents } from './tracking/events.js'
export { close, flush, stats, track, tracked } from './tracking/process-sluice.js'
export { createSluice, type DrainOptions, type Sluice } from './tracking/sluice.js'
export type { TrackOptions } from './tracking/tracker.js'

installProcessHooks()
