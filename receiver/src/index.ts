export { type Receiver, ReceiverError, type ReceiverOptions, startReceiver } from './receiver.js'
