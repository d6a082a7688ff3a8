export { type Receiver, type ReceiverOptions, startReceiver } from './receiver.js'
export { ReceiverError } from './receiver-error.js'
