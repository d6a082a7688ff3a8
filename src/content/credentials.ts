import { optionTable } from '../options/defaults.js'
import type { ResolvedOptions } from '../options/options.js'
import { ApiKey, hide } from '../options/secret.js'

/** The two schemes of the API. */
export type Scheme = 'apiKey' | 'accessToken'

/** What one request proves its right with. */
export interface Credential {
  readonly scheme: Scheme
  readonly headers: Readonly<Record<string, string>>
  /** The service has refused it: whether there is another one now. */
  renew(): boolean
}

/** The key and the token, and which of them goes with a request. */
export class Credentials {
  readonly #secrets: Readonly<Partial<Record<Scheme, ApiKey>>>

  constructor({
    apiKey,
    apiKeyFile,
    accessToken,
    accessTokenFile,
  }: Pick<ResolvedOptions, 'apiKey' | 'apiKeyFile' | 'accessToken' | 'accessTokenFile'>) {
    this.#secrets = {
      ...(apiKey.reveal() === '' ? {} : { apiKey: new ApiKey(apiKey, apiKeyFile) }),
      ...(accessToken === undefined ? {} : { accessToken: new ApiKey(accessToken, accessTokenFile) }),
    }
  }

  /** Of the scheme that the API shows for an operation; of the other one when only that is configured. */
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

  /** A text of the service without what it must not repeat. */
  redact(text: string): string {
    const secrets = Object.values(this.#secrets).map((secret) => secret.reveal())
    return hide(text, secrets)
  }
}

/** How a person calls it. */
export function schemeText(scheme: Scheme): string {
  return `${scheme === 'apiKey' ? 'API key' : 'access token'} (${optionTable[scheme].variable})`
}
