import { execFile } from 'node:child_process'
import { isIP } from 'node:net'
import { connect, type PeerCertificate, type TLSSocket } from 'node:tls'
import { promisify } from 'node:util'
import { isError } from '../../errors/is-error.js'
import { textOf } from '../../errors/text-of.js'
import { describeError } from '../../http/describe-error.js'
import { howToStart } from '../next-step.js'
import { inTime } from './deadline.js'
import { bad, type Finding, good, skipped } from './finding.js'
import { peerText, type Route } from './route.js'

export interface CheckPlan {
  readonly route: Route
  /** The time for each check. */
  readonly ms: number
}

/** Uses the resolver of the system, as every connection does. */
const lookupProgram =
  "require('node:dns').lookup(process.argv[1], { all: true }, (error, found) => process.stdout.write(JSON.stringify(error ? { code: error.code } : { found: found.map(({ address }) => address) })))"

/** Check the host name with the resolver of the system. */
export async function checkName({ route, ms }: CheckPlan): Promise<Finding> {
  const { host } = route.first
  const what = route.proxyUrl === undefined ? host : `${host} (the proxy of ${route.proxyVariable})`
  if (isIP(host) !== 0) return skipped('name', `${what} is an address: no lookup is needed`)
  const advice = `check the name in ${route.proxyVariable ?? 'SLUICE_URL'}, and the name servers of this machine`
  try {
    // The resolver cannot be interrupted and would delay the end of this process, so another process asks it.
    const asked = await inTime((signal) => lookup(host, signal), { ms })
    if (asked.type === 'late') return bad('name', { text: `no answer for ${what} within ${ms} ms`, advice })
    const { code, found = [] } = asked.result
    if (code !== undefined) return bad('name', { text: `${what} is not known (${code})`, advice })
    return good('name', `${what} is ${found.join(', ')}`)
  } catch (error) {
    return skipped('name', `no process can be started for the lookup: ${describeError(error)}`)
  }
}

async function lookup(host: string, signal: AbortSignal): Promise<{ code?: string; found?: string[] }> {
  const env = { ...process.env, NODE_OPTIONS: '' }
  const options = { signal, killSignal: 'SIGKILL', env } as const
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', lookupProgram, host], options)
  return JSON.parse(stdout) as { code?: string; found?: string[] }
}

/** Check that the peer accepts connections. */
export async function checkConnection({ route, ms }: CheckPlan): Promise<Finding> {
  const where = peerText(route.first)
  const advice =
    route.proxyUrl === undefined
      ? 'check that the service runs, the port in SLUICE_URL, and firewalls between'
      : `start the proxy, correct or unset ${route.proxyVariable}, or name the host in NO_PROXY`
  const startedAt = performance.now()
  try {
    const connected = await inTime(async (signal) => void (await route.connect(signal)), { ms })
    if (connected.type === 'late')
      return bad('connection', { text: `${where} does not answer within ${ms} ms`, advice })
    return good('connection', `to ${where} in ${Math.round(performance.now() - startedAt)} ms`)
  } catch (error) {
    if (codeOf(error) !== 'ECONNREFUSED') return bad('connection', { text: describeError(error), advice })
    const role = route.proxyUrl === undefined ? '' : `, the proxy of ${route.proxyVariable}`
    const text = `nothing listens at ${where}${role} (ECONNREFUSED)`
    return bad('connection', { text, advice: route.isLocal ? howToStart(route) : advice })
  }
}

/** A host with several addresses gives one error for each. */
function codeOf(error: unknown): string | undefined {
  const [first] = error instanceof AggregateError ? error.errors : [error]
  return (first as NodeJS.ErrnoException).code
}

const dayMs = 86_400_000
/** A certificate is usually renewed before it is this close to its end. */
const soonDays = 14

/** Check the certificate by the rules of Node, and when it ends. Nothing is sent. */
export async function checkCertificate({ route, ms }: CheckPlan): Promise<Finding> {
  if (!route.secure) return skipped('certificate', 'none: the URL is http:')
  const { host } = route.service
  const advice = `check https: in SLUICE_URL, and the port of ${host}`
  try {
    const done = await inTime(
      async (signal) => {
        const socket = connect({
          socket: await route.reach(signal),
          ...(isIP(host) === 0 ? { servername: host } : {}),
          host,
          rejectUnauthorized: false,
          ALPNProtocols: ['http/1.1'],
        })
        await new Promise<void>((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject))
        const finding = judge(socket)
        socket.destroy()
        return finding
      },
      { ms },
    )
    return done.type === 'done' ? done.result : bad('certificate', { text: `no TLS within ${ms} ms`, advice })
  } catch (error) {
    return bad('certificate', { text: describeError(error), advice })
  }
}

function judge(socket: TLSSocket): Finding {
  const certificate = socket.getPeerCertificate()
  const end = Date.parse(certificate.valid_to)
  const days = Math.floor((end - Date.now()) / dayMs)
  const until = `valid until ${new Date(end).toISOString().slice(0, 10)}`
  const text = `${socket.getProtocol()}, ${nameOf(certificate)}, ${until}`
  if (!socket.authorized) {
    const { code, message } = codeAndMessageOf(socket.authorizationError)
    return bad('certificate', { text: `${text}: ${message}`, advice: adviceFor(code) })
  }
  if (process.env.NODE_TLS_REJECT_UNAUTHORIZED === '0') {
    const advice = 'unset NODE_TLS_REJECT_UNAUTHORIZED: with it, others can read the key'
    return bad('certificate', { text: `${text}; certificates are not checked`, advice })
  }
  if (days < soonDays) return bad('certificate', { text: `${text}, in ${days} days`, advice: 'renew the certificate' })
  return good('certificate', `${text} (${days} days)`)
}

function nameOf({ subject, subjectaltname }: PeerCertificate): string {
  const names = subjectaltname?.replaceAll(/(DNS|IP Address):/g, '')
  return names ?? textOf(subject?.CN ?? 'a certificate without a name')
}

/** By Node's types this is an error, but it may also be the code of one. */
function codeAndMessageOf(error: unknown): { readonly code: string; readonly message: string } {
  if (isError(error)) return { code: (error as NodeJS.ErrnoException).code ?? '', message: error.message }
  return { code: textOf(error), message: textOf(error) }
}

function adviceFor(code: string): string {
  if (code === 'CERT_HAS_EXPIRED') return 'renew the certificate, or correct the clock of this machine'
  if (code === 'CERT_NOT_YET_VALID') return 'set the clock of this machine'
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return 'the certificate is for another name: check the host in SLUICE_URL'
  return 'if you trust its issuer, set NODE_EXTRA_CA_CERTS to the certificate of the issuer'
}
