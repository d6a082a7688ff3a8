export { type Receiver, startReceiver } from './receiver.js'
export { ReceiverError } from './receiver-error.js'
export type { ReceiverOptions } from './receiver-options.js'
