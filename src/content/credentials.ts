import { clientTable, type ResolvedClientOptions } from '../options/client-options.js'
import { ApiKey, hide } from '../options/secret.js'
import { table } from '../options/table.js'

/** The two schemes of the API. */
export type Scheme = 'apiKey' | 'accessToken'

/** The credential of one request. */
export interface Credential {
  readonly scheme: Scheme
  readonly headers: Readonly<Record<string, string>>
  /** Call this when the service has refused the credential. True if there is another one now. */
  renew(): boolean
}

/** The key and the token. Chooses the one for a request. */
export class Credentials {
  readonly #secrets: Readonly<Partial<Record<Scheme, ApiKey>>>

  constructor({ apiKey, accessToken }: Pick<ResolvedClientOptions, 'apiKey' | 'accessToken'>) {
    this.#secrets = {
      ...(apiKey.reveal() === '' ? {} : { apiKey: new ApiKey(apiKey) }),
      ...(accessToken === undefined ? {} : { accessToken: new ApiKey(accessToken) }),
    }
  }

  /** The credential of the scheme that the API shows for an operation, or of the other scheme if only that is configured. */
  for(shown: Scheme): Credential {
    const other = shown === 'apiKey' ? 'accessToken' : 'apiKey'
    const scheme = this.#secrets[shown] === undefined ? other : shown
    const secret = this.#secrets[scheme]
    const text = secret?.reveal() ?? ''
    return {
      scheme,
      headers: scheme === 'apiKey' ? { 'x-api-key': text } : { authorization: `Bearer ${text}` },
      renew: () => secret?.renew(text) ?? false,
    }
  }

  /** A text of the service with every secret in it redacted. */
  redact(text: string): string {
    const secrets = Object.values(this.#secrets).map((secret) => secret.reveal())
    return hide(text, secrets)
  }
}

/** Name of a scheme and its variable, for messages. */
export function schemeText(scheme: Scheme): string {
  const { name } = { ...table, ...clientTable }[scheme].variables[0]!
  return `${scheme === 'apiKey' ? 'API key' : 'access token'} (${name})`
}
