export type { LogRecord, ValueRecord } from './records/wire.js'
export { type CapturedSluice, captureSluice } from './tracking/capture-sluice.js'
