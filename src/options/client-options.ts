import type { SluiceOptions } from './options.js'

/** The options of a client, which answers its caller. Those for lanes, records and the end of the process do not apply. */
export type ClientOptions = Pick<
  SluiceOptions,
  | 'url'
  | 'apiKey'
  | 'accessToken'
  | 'allowInsecure'
  | 'maxConnections'
  | 'requestTimeoutMs'
  | 'retryBaseMs'
  | 'retryCapMs'
  | 'debug'
>
