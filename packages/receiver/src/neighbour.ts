import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIPv6 } from 'node:net'
import { json } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { healthName } from './http/health-routes.js'

/** Another receiver on this machine. */
export interface Neighbour {
  readonly url: string
  readonly version: string
}

/** A program that listens may never answer. */
const patienceMs = 1000

/** The receiver that listens there, with or without TLS; undefined where another program does, or none. Never rejects. */
export async function neighbourAt({ host, port }: { host: string; port: number }): Promise<Neighbour | undefined> {
  if (port === 0) return undefined
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  const place = `${isIPv6(name) ? `[${name}]` : name}:${port}`
  const over = new AbortController()
  const asked = ['http', 'https'].map((scheme) => ask(`${scheme}://${place}`, over.signal))
  const late = setTimeout(patienceMs, undefined, { signal: over.signal }).catch(() => undefined)
  try {
    return await Promise.race([late, Promise.any(asked).catch(() => undefined)])
  } finally {
    over.abort()
  }
}

/** Rejects where no receiver answers. */
async function ask(url: string, signal: AbortSignal): Promise<Neighbour> {
  const open = url.startsWith('https:') ? httpsRequest : httpRequest
  // Nothing secret is sent, and the certificate may be for another name.
  const request = open(`${url}/api/health`, { signal, agent: false, rejectUnauthorized: false })
  const answer = await new Promise<NodeJS.ReadableStream>((resolve, reject) => {
    request.once('response', resolve).once('error', reject).end()
  })
  // An answer that is cut off is an error of the request, too, and nobody listens any more.
  request.on('error', () => {})
  const { name, version } = (await json(answer)) as { readonly name?: unknown; readonly version?: unknown }
  if (name !== healthName || typeof version !== 'string') throw new Error('another program answers')
  return { url, version: version.slice(0, 50).replace(/[^\w.+-]/g, '') }
}

/** `a receiver already runs at …`, for messages. */
export function neighbourText({ url, version }: Neighbour): string {
  return `a receiver already runs at ${url} (version ${version})`
}
