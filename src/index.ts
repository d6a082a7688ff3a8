import { installProcessHooks } from './process/install.js'

export { type ContextFields, currentContext, withContext } from './context/context.js'
export type { Counts, DropReason, LaneReport, LaneState, Ledger } from './delivery/ledger.js'
export type {
  DroppedMessage,
  OutageMessage,
  PausedMessage,
  RejectedMessage,
  ResumedMessage,
  SluiceMessages,
} from './diagnostics/channel-messages.js'
export { ConfigError, type ConfigErrorCode, SluiceError, type SluiceErrorCode } from './errors/sluice-error.js'
export type { KeepForErrorOption } from './options/kinds.js'
export type { SluiceOptions } from './options/options.js'
export type { RedactOption } from './options/redaction.js'
export { type SetLevelOptions, setLevel } from './process/set-level.js'
export { type LogRecord, runtimes, type ValidationError, type ValueRecord } from './records/wire.js'
export type { EventCatalogue, EventEntry, EventNumbers } from './tracking/event-catalogue.js'
export { defineEvents } from './tracking/events.js'
export {
  close,
  createSluice,
  type DrainOptions,
  flush,
  rejections,
  type Sluice,
  stats,
  track,
  tracked,
} from './tracking/sluice.js'
export type { TrackOptions } from './tracking/tracker.js'

installProcessHooks()
