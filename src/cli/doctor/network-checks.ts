import { execFile } from 'node:child_process'
import { isIP } from 'node:net'
import { connect, type PeerCertificate, type TLSSocket } from 'node:tls'
import { promisify } from 'node:util'
import { textOf } from '../../errors/text-of.js'
import { describeError } from '../../http/describe-error.js'
import { inTime } from './deadline.js'
import { bad, type Finding, good, skipped } from './finding.js'
import { peerText, type Way } from './way.js'

/** What the network looks are given. */
export interface NetworkPlan {
  readonly way: Way
  /** How long each may take. */
  readonly ms: number
}

/** Asks the system as every connection does. */
const lookupProgram =
  "require('node:dns').lookup(process.argv[1], { all: true }, (error, found) => process.stdout.write(JSON.stringify(error ? { code: error.code } : { found: found.map(({ address }) => address) })))"

/** Whether the name of the peer is known, by the system's own resolver. */
export async function checkName({ way, ms }: NetworkPlan): Promise<Finding> {
  const { host } = way.first
  const what = way.proxyUrl === undefined ? host : `${host} (the proxy of ${way.proxyVariable})`
  if (isIP(host) !== 0) return skipped('name', `${what} is an address`)
  const advice = `check the name in ${way.proxyVariable ?? 'SLUICE_URL'}, and /etc/resolv.conf`
  try {
    // The system's resolver cannot be interrupted, and would hold up the end of this process: it is asked in another one.
    const asked = await inTime((signal) => lookup(host, signal), { ms })
    if (asked.type === 'late') return bad('name', { text: `no answer for ${what} within ${ms} ms`, advice })
    const { code, found = [] } = asked.result
    if (code !== undefined) return bad('name', { text: `${what} is not known (${code})`, advice })
    return good('name', `${what} is ${found.join(', ')}`)
  } catch (error) {
    return skipped('name', `could not be looked up apart: ${describeError(error)}`)
  }
}

async function lookup(host: string, signal: AbortSignal): Promise<{ code?: string; found?: string[] }> {
  const env = { ...process.env, NODE_OPTIONS: '' }
  const options = { signal, killSignal: 'SIGKILL', env } as const
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', lookupProgram, host], options)
  return JSON.parse(stdout) as { code?: string; found?: string[] }
}

/** Whether somebody listens at the address. */
export async function checkConnection({ way, ms }: NetworkPlan): Promise<Finding> {
  const where = peerText(way.first)
  const advice =
    way.proxyUrl === undefined
      ? 'is the service running, is the port in SLUICE_URL right, does a firewall stand between?'
      : `check ${way.proxyVariable}, or name the host in NO_PROXY`
  const startedAt = performance.now()
  try {
    const connected = await inTime(async (signal) => void (await way.connect(signal)), { ms })
    if (connected.type === 'late')
      return bad('connection', { text: `${where} does not answer within ${ms} ms`, advice })
    return good('connection', `to ${where} in ${Math.round(performance.now() - startedAt)} ms`)
  } catch (error) {
    return bad('connection', { text: describeError(error), advice })
  }
}

const dayMs = 86_400_000
/** A certificate that ends sooner than this should have been renewed. */
const soonDays = 14

/** Whether the connection is secure, by the rules of Node, and for how long the certificate will do. Nothing is sent. */
export async function checkCertificate({ way, ms }: NetworkPlan): Promise<Finding> {
  if (!way.secure) return skipped('certificate', 'none: the URL is http:')
  const { host } = way.service
  const advice = `is https: right in SLUICE_URL, and the port of ${host}?`
  try {
    const shaken = await inTime(
      async (signal) => {
        const socket = connect({
          socket: await way.reach(signal),
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
    return shaken.type === 'done' ? shaken.result : bad('certificate', { text: `no TLS within ${ms} ms`, advice })
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
    const { code, message } = reasonOf(socket.authorizationError)
    return bad('certificate', { text: `${text}: ${message}`, advice: adviceFor(code) })
  }
  if (process.env.NODE_TLS_REJECT_UNAUTHORIZED === '0') {
    const advice = 'unset NODE_TLS_REJECT_UNAUTHORIZED: with it anybody may read the key'
    return bad('certificate', { text: `${text}; certificates are not checked`, advice })
  }
  if (days < soonDays) return bad('certificate', { text: `${text}, in ${days} days`, advice: 'renew it' })
  return good('certificate', `${text} (${days} days)`)
}

function nameOf({ subject, subjectaltname }: PeerCertificate): string {
  const names = subjectaltname?.replaceAll(/(DNS|IP Address):/g, '')
  return names ?? textOf(subject?.CN ?? 'a certificate without a name')
}

/** Node's types say that it is an error; it is the code of one, or an error. */
function reasonOf(error: unknown): { readonly code: string; readonly message: string } {
  if (error instanceof Error) return { code: (error as NodeJS.ErrnoException).code ?? '', message: error.message }
  return { code: textOf(error), message: textOf(error) }
}

function adviceFor(code: string): string {
  if (code === 'CERT_HAS_EXPIRED') return 'it has to be renewed, or the clock of this machine is wrong'
  if (code === 'CERT_NOT_YET_VALID') return 'set the clock of this machine'
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'it is for another name: check the host in SLUICE_URL'
  return 'if this authority is yours, name its certificate in NODE_EXTRA_CA_CERTS'
}
