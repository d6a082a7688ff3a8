import { isIP } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Keys, KnownKey } from '../keys/keys.js'
import type { KnownSession, PageSessions } from '../keys/page-sessions.js'
import type { Scope } from '../keys/scopes.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Credentials of the route: an API key, that or a session of the page, or whatever the route itself asks for. @default 'key' */
    readonly access?: 'key' | 'page' | 'own'
    /** Scope that an API key must have. @default 'admin' */
    readonly scope?: Scope
  }
  interface FastifyRequest {
    /** The valid API key of the request, or the one that has opened its session; null if it has none. */
    apiKey: KnownKey | null
    /** The session of the page that the request counts under; null if it has none. */
    pageSession: KnownSession | null
  }
}

export interface AccessRefusal {
  readonly status: 401 | 403
  readonly message: string
}

/**
 * Decides which requests are answered. An API key counts wherever it comes from. A browser sends a session with every request, whoever has
 * caused it; therefore a session counts only for requests that the receiver's own page has made, under a name of the receiver.
 */
export class Access {
  readonly #keys: Keys
  readonly #sessions: PageSessions
  readonly #hosts: ReadonlySet<string>
  readonly #store: string

  /**
   * @param hosts names of the receiver, beside localhost and IP addresses
   * @param store identity of the store, in characters that the name of a cookie may have
   */
  constructor({
    keys,
    sessions,
    hosts,
    store,
  }: {
    readonly keys: Keys
    readonly sessions: PageSessions
    readonly hosts: readonly string[]
    readonly store: string
  }) {
    this.#keys = keys
    this.#sessions = sessions
    this.#store = store
    this.#hosts = new Set(['localhost', ...hosts.map((host) => host.toLowerCase())])
  }

  /** The reason to refuse a request that needs an API key, whatever its scopes, if there is one. */
  keyRefusal(request: FastifyRequest): AccessRefusal | undefined {
    const key = credentials(request.headers)
    if (key === undefined) return missing
    request.apiKey = this.#keys.find(key) ?? null
    return request.apiKey === null ? { status: 401, message: 'the API key or bearer token is not valid' } : undefined
  }

  /**
   * The reason to refuse a request that needs an API key with a scope, or a session of the page. Where a key is sent, it counts. A session
   * reads all that the page shows; what else it does, the key that has opened it must be allowed to do.
   */
  refusal(request: FastifyRequest, scope: Scope): AccessRefusal | undefined {
    const refusal = this.keyRefusal(request)
    if (refusal === undefined) return scopeRefusal(request.apiKey!, scope)
    const session = refusal === missing ? this.#sessionsOf(request)[0] : undefined
    if (session === undefined) return refusal
    const foreign = this.foreign(request)
    if (foreign !== undefined) return foreign
    request.pageSession = session
    request.apiKey = this.#keyOf(session) ?? null
    const isReading = request.method === 'GET' || request.method === 'HEAD'
    return request.apiKey === null || isReading ? undefined : scopeRefusal(request.apiKey, scope)
  }

  /** Refuses a request that another site has caused, or that came under a name that any site can point here (DNS rebinding). */
  foreign({ headers, method }: FastifyRequest): AccessRefusal | undefined {
    const { host = '', origin, 'sec-fetch-site': site, 'sec-fetch-mode': mode } = headers
    if (!this.#isOurs(host)) {
      const shown = host.slice(0, maxShown)
      return { status: 403, message: `the page is not served under the name "${shown}"; see --page-host` }
    }
    const isLink = mode === 'navigate' && method === 'GET'
    const isForeign = origin === undefined ? /^(cross|same)-site$/.test(String(site)) && !isLink : !isSame(origin, host)
    return isForeign ? { status: 403, message: 'another site has made this request' } : undefined
  }

  hasSession(request: FastifyRequest): boolean {
    return this.#sessionsOf(request).length > 0
  }

  /** Begins a session with a token. Returns false if that is wrong, was used or is over. */
  async beginSession(token: string, reply: FastifyReply): Promise<boolean> {
    const secret = await this.#sessions.begin(token)
    if (secret === undefined) return false
    this.#setCookie(secret, reply)
    return true
  }

  /** Begins a session of an API key, or says why not. */
  async signIn(key: string, reply: FastifyReply): Promise<AccessRefusal | undefined> {
    const known = this.#keys.find(key)
    if (known === undefined) return { status: 401, message: 'The receiver does not know this key.' }
    const refusal = scopeRefusal(known, 'read')
    if (refusal === undefined) this.#setCookie(await this.#sessions.beginOf(known.id), reply)
    return refusal
  }

  /** Ends the sessions of the request. Returns false if it has none. */
  async endSession(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    const sessions = this.#sessionsOf(request)
    for (const session of sessions) await this.#sessions.end(session)
    reply.header('set-cookie', `${this.#cookieName(request)}=; Max-Age=0; ${attributesOf(request)}`)
    return sessions.length > 0
  }

  /** Calls `ended` when the key or the session of the request counts no longer, until the returned function is called. */
  watch({ apiKey, pageSession }: FastifyRequest, ended: () => void): () => void {
    const ofKey = apiKey === null ? undefined : this.#keys.watch(apiKey.id, ended)
    const ofSession = pageSession === null ? undefined : this.#sessions.watch(pageSession, ended)
    return () => {
      ofKey?.()
      ofSession?.()
    }
  }

  /** A session counts under the name of any receiver: its secret tells whose it is. It ends with its key. */
  #sessionsOf(request: FastifyRequest): KnownSession[] {
    return pageCookies(request).flatMap((each) => {
      const session = this.#sessions.find(each.slice(each.indexOf('=') + 1))
      return session === undefined || (session.keyId !== null && this.#keyOf(session) === undefined) ? [] : [session]
    })
  }

  #keyOf({ keyId }: KnownSession): KnownKey | undefined {
    return keyId === null ? undefined : this.#keys.withId(keyId)
  }

  #setCookie(secret: string, reply: FastifyReply): void {
    const { request } = reply
    const attributes = attributesOf(request)
    const name = this.#cookieName(request)
    const others = pageCookies(request).filter((each) => !each.startsWith(`${name}=`))
    const tooMany = others.slice(0, 1 - maxPageCookies)
    reply.header('set-cookie', [
      `${name}=${secret}; ${attributes}`,
      ...tooMany.map((each) => `${each.slice(0, each.indexOf('='))}=; Max-Age=0; ${attributes}`),
    ])
  }

  /**
   * Browsers give a cookie to every port of a host, and two containers may listen on the same port inside. Two receivers must not overwrite each
   * other's, so the name has the port and the store.
   */
  #cookieName({ socket }: FastifyRequest): string {
    return `${cookiePrefix}${socket.localPort}-${this.#store}`
  }

  #isOurs(host: string): boolean {
    const name = /^(\[[\da-f:.]+\]|[^:[\]]+)(:\d+)?$/i.exec(host)?.[1]?.toLowerCase() ?? ''
    return isIP(name.replace(/^\[|\]$/g, '')) !== 0 || this.#hosts.has(name)
  }
}

/** The reason to refuse a key that lacks a scope. */
export function scopeRefusal({ scopes }: KnownKey, scope: Scope): AccessRefusal | undefined {
  if (scopes.includes(scope)) return undefined
  return { status: 403, message: `the API key lacks the scope ${scope}; it has ${scopes.join(', ')}` }
}

function attributesOf({ protocol }: FastifyRequest): string {
  return `Path=/; HttpOnly; SameSite=Strict${protocol === 'https' ? '; Secure' : ''}`
}

/** The cookies of this receiver's page and of others', the oldest first, as browsers order them. */
function pageCookies({ headers }: FastifyRequest): string[] {
  return (headers.cookie?.split(/; */) ?? []).filter((each) => each.startsWith(cookiePrefix))
}

function isSame(origin: string, host: string): boolean {
  return URL.canParse(origin) && new URL(origin).host === host.toLowerCase()
}

function credentials(headers: FastifyRequest['headers']): string | undefined {
  const key = headers['x-api-key']
  if (typeof key === 'string' && key !== '') return key
  return /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1]
}

const missing: AccessRefusal = {
  status: 401,
  message: 'credentials are missing: send x-api-key, or a valid bearer token as Authorization',
}

const cookiePrefix = 'sluice-page-'
/** Receivers that came and went leave cookies in a browser. Without a limit its requests would become too large to be answered. */
const maxPageCookies = 20

/** Longest part of a refused name in an answer. */
const maxShown = 200
