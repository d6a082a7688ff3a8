import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { connect, isIP, type Socket } from 'node:net'
import { isLoopback, proxyFor } from '../../http/proxy.js'
import type { Environment } from '../../options/environment.js'

/** A host and a port. */
export interface Peer {
  readonly host: string
  readonly port: number
}

/** The route to a service: direct, or through a proxy of the environment. */
export class Route {
  readonly service: Peer
  readonly secure: boolean
  /** Undefined for a direct route. */
  readonly proxyUrl: string | undefined
  /** The variable that is set for the proxy, even when its value is no URL of a proxy. */
  readonly proxyVariable: string | undefined
  readonly #proxy: URL | undefined

  constructor(url: string, environment: Environment) {
    const base = new URL(url)
    this.secure = base.protocol === 'https:'
    this.service = peerOf(base)
    const setting = proxyFor(url, environment)
    this.proxyVariable = setting.type === 'none' ? undefined : setting.variable
    this.proxyUrl = setting.type === 'proxy' ? setting.url : undefined
    this.#proxy = this.proxyUrl === undefined ? undefined : new URL(this.proxyUrl)
  }

  /** The peer that this machine connects to: the proxy or the service. */
  get first(): Peer {
    return this.#proxy === undefined ? this.service : peerOf(this.#proxy)
  }

  /** The service is on this machine, and is reached directly. */
  get isLocal(): boolean {
    return this.#proxy === undefined && isLoopback(this.service.host)
  }

  /** A connection to {@link first}. Rejects with the error of the network. */
  async connect(signal: AbortSignal): Promise<Socket> {
    const socket = connect(this.first)
    signal.addEventListener('abort', () => socket.destroy(), { once: true })
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
    return socket
  }

  /** A connection to the service, through a tunnel of the proxy if there is one. Rejects with the error of the network or of the proxy. */
  async reach(signal: AbortSignal): Promise<Socket> {
    if (this.#proxy === undefined) return await this.connect(signal)
    const { username, password, protocol } = this.#proxy
    const authority = `${bracketed(this.service.host)}:${this.service.port}`
    const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString(
      'base64',
    )
    const headers = { host: authority, ...(username === '' ? {} : { 'proxy-authorization': `Basic ${credentials}` }) }
    const open = protocol === 'https:' ? httpsRequest : httpRequest
    const asked = open({ ...this.first, method: 'CONNECT', path: authority, headers, agent: false, signal })
    return await new Promise((resolve, reject) => {
      asked.once('error', reject)
      asked.once('connect', (answer, socket) => {
        signal.addEventListener('abort', () => socket.destroy(), { once: true })
        if (answer.statusCode === 200) resolve(socket)
        else reject(new Error(`the proxy answers ${answer.statusCode} ${answer.statusMessage ?? ''}`.trim()))
      })
      asked.once('response', (answer) => reject(new Error(`the proxy answers ${answer.statusCode}`)))
      asked.end()
    })
  }
}

/** `host:port`, for messages. */
export function peerText({ host, port }: Peer): string {
  return `${bracketed(host)}:${port}`
}

function peerOf({ protocol, hostname, port }: URL): Peer {
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
  }
}

function bracketed(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host
}
