import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIPv6 } from 'node:net'
import { json } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { healthName } from './http/health-routes.js'
import { ReceiverError } from './receiver-error.js'

interface Place {
  readonly host: string
  readonly port: number
}

/** Another receiver on this machine. */
interface Neighbour {
  readonly url: string
  readonly version: string
}

/** A program that listens may never answer. */
const patienceMs = 1000

/** The receiver that listens there, with or without TLS; undefined where another program does, or none. Never rejects. */
async function neighbourAt({ host, port }: Place): Promise<Neighbour | undefined> {
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
function neighbourText({ url, version }: Neighbour): string {
  return `a receiver already runs at ${url} (version ${version})`
}

/** Adds to the refusal of a data folder the address of the receiver that runs at the port: a person looks for it. */
export function besideNeighbour(place: Place): (failure: unknown) => Promise<never> {
  return async (failure) => {
    if (!(failure instanceof ReceiverError) || failure.code !== 'DATA_IN_USE') throw failure
    const neighbour = await neighbourAt(place)
    if (neighbour === undefined) throw failure
    const { cause } = failure
    throw new ReceiverError(failure.code, `${failure.message}; ${neighbourText(neighbour)}`, { cause })
  }
}

/** The failure of a start that cannot listen. */
export async function listenError(cause: NodeJS.ErrnoException, { port, host }: Place): Promise<ReceiverError> {
  if (cause.code === 'EADDRINUSE') {
    const neighbour = await neighbourAt({ host, port })
    const message =
      neighbour === undefined
        ? `another program listens on ${host}:${port}; choose another port with --port`
        : `${neighbourText(neighbour)}: use it, or choose another port with --port`
    return new ReceiverError('PORT_TAKEN', message, { cause })
  }
  return new ReceiverError('ADDRESS_UNUSABLE', `cannot listen on ${host}:${port}: ${cause.message}`, { cause })
}
