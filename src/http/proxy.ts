import { ownField } from '../runtime/own-fields.js'

/** The proxy for a service, from the environment. */
export type ProxySetting =
  | { readonly type: 'none' }
  | { readonly type: 'proxy'; readonly url: string; readonly variable: string }
  /** The value is not the URL of an HTTP proxy. It may contain a password, so it is never reported. */
  | { readonly type: 'unusable'; readonly variable: string }

type Environment = Readonly<Record<string, string | undefined>>

/**
 * The proxy for a base URL, by the rules of curl and undici. `https_proxy` is for `https:` only, and comes before `http_proxy`, which is for
 * both. Names in lower case come before those in upper case. `no_proxy` is `*` or a list of hosts, which stand for the hosts below them
 * too, and may have a port. As in Go, there is no proxy to the machine itself, and under CGI (`REQUEST_METHOD` is set) none from
 * `HTTP_PROXY`.
 */
export function proxyFor(base: string, environment: Environment): ProxySetting {
  const { protocol, hostname, port } = new URL(base)
  // Under CGI this is the header `Proxy` of the request: whoever sends one would get the records (httpoxy).
  const isHeader = Object.hasOwn(environment, 'REQUEST_METHOD')
  const names = isHeader ? ['http_proxy'] : ['http_proxy', 'HTTP_PROXY']
  if (protocol === 'https:') names.unshift('https_proxy', 'HTTPS_PROXY')
  const variable = names.find((name) => filled(ownField(environment, name)) !== undefined)
  const host = hostname.replace(/^\[|\]$/g, '')
  if (variable === undefined || isLoopback(host)) return { type: 'none' }
  const exceptions = filled(ownField(environment, 'no_proxy')) ?? filled(ownField(environment, 'NO_PROXY')) ?? ''
  const target = { host, port: port === '' ? defaultPorts[protocol] : port }
  if (exceptions.split(/[\s,]+/).some((entry) => excepts(entry, target))) return { type: 'none' }
  const url = proxyUrl(filled(environment[variable])!)
  return url === undefined ? { type: 'unusable', variable } : { type: 'proxy', url, variable }
}

const defaultPorts: Readonly<Record<string, string>> = { 'https:': '443', 'http:': '80' }

function filled(value: string | undefined): string | undefined {
  const text = value?.trim()
  return text === '' ? undefined : text
}

/** `example.com`, `.example.com` and `*.example.com` stand for the host and all hosts below it, with a port for that port only. */
function excepts(entry: string, { host, port }: { host: string; port: string | undefined }): boolean {
  if (entry === '*') return true
  const [, name = '', only] = /^(\[.*\]|[^:]*|.*:.*:.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? []
  const bare = name.replace(/^\[|\]$/g, '').replace(/^\*?\./, '')
  if (bare === '' || (only !== undefined && only !== port)) return false
  return host === bare || host.endsWith(`.${bare}`)
}

function proxyUrl(text: string): string | undefined {
  const whole = text.includes('://') ? text : `http://${text}`
  if (!URL.canParse(whole)) return undefined
  const url = new URL(whole)
  // As in curl, a percent sign that begins no escape stands for itself: a password may contain it.
  url.username = url.username.replace(/%(?![\da-f]{2})/gi, '%25')
  url.password = url.password.replace(/%(?![\da-f]{2})/gi, '%25')
  const isHttp = url.protocol === 'http:' || url.protocol === 'https:'
  return isHttp && decodes(url.username) && decodes(url.password) ? url.href : undefined
}

/** False where the escapes are not UTF-8: decoding the credentials would throw. */
function decodes(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/** The value of `proxy-authorization` for a proxy. Undefined where its URL names nobody. */
export function proxyCredentials({ username, password }: URL): string | undefined {
  if (username === '') return undefined
  const words = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return `Basic ${Buffer.from(words).toString('base64')}`
}

/** True for a host on this machine. An IPv6 address is without brackets. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
}
