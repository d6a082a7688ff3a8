import { leaveUnreported } from './runtime/shared-state.js'

export type { LogRecord, ValueRecord } from './records/wire.js'
export { type CapturedSluice, captureSluice } from './tracking/capture-sluice.js'

// Imports come before the first call: the loggers of an application that is tested are made before anything is captured.
leaveUnreported('off')
