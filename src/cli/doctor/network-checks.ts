import { execFile } from 'node:child_process'
import { isIP } from 'node:net'
import { promisify } from 'node:util'
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
