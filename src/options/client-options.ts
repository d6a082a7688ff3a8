import { secret } from './kinds.js'
import { fileIn, type Given, option, type Resolved } from './option.js'
import type { ResolvedOptions, SluiceOptions } from './options.js'

/** The options of clients alone, beside those that they share with the loggers. */
export const clientTable = {
  /**
   * The access token, sent as `Authorization: Bearer` by content operations only. Never printed. `SLUICE_ACCESS_TOKEN_FILE` is the path of a
   * file with the token. Set by `SLUICE_ACCESS_TOKEN`.
   */
  accessToken: option(secret, ['SLUICE_ACCESS_TOKEN', fileIn('SLUICE_ACCESS_TOKEN_FILE')]),
}

type Shared =
  | 'url'
  | 'apiKey'
  | 'allowInsecure'
  | 'maxConnections'
  | 'requestTimeoutMs'
  | 'retryBaseMs'
  | 'retryCapMs'
  | 'debug'

type Own = typeof clientTable

/**
 * The options of a client, which answers its caller. The options for lanes, records and the end of the process do not apply.
 * @interface
 */
export type ClientOptions = { readonly [Name in keyof Own]?: Given<Own[Name]> | undefined } & Pick<
  SluiceOptions,
  Shared
>

/** The complete options of a client. */
export type ResolvedClientOptions = { readonly [Name in keyof Own]?: Resolved<Own[Name]> } & Pick<
  ResolvedOptions,
  Shared
>
