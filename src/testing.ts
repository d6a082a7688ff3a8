import { leaveUnreported } from './runtime/shared-state.js'

export type { LogRecord, ValueRecord } from './records/wire.js'
export { type CapturedSluice, captureSluice } from './tracking/capture-sluice.js'

// An application's loggers may be made before the first capture, without a configuration: they must not say that Sluice is off.
leaveUnreported('off')
