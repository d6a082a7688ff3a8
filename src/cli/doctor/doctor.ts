import { runtimeIdentity } from '../../options/identity.js'
import type { ResolvedOptions } from '../../options/options.js'
import { hide } from '../../options/secret.js'
import { packageVersion } from '../../runtime/version.js'
import { readArguments } from '../arguments.js'
import { Ending, jsonHelp, printOwn } from '../output.js'
import { greet } from './clock-check.js'
import { readConfiguration } from './configuration-check.js'
import { checkDelivery, expectSender } from './delivery-check.js'
import { bad, type Finding, findingLines, optionFacts, optionLines, skipped } from './finding.js'
import { checkCertificate, checkConnection, checkName } from './network-checks.js'
import { checkSpool } from './spool-check.js'
import { Way } from './way.js'
import { checkWorker } from './worker-check.js'

/** No look takes longer, whatever a request may take. */
const longestLookMs = 10_000

/** The command `sluice doctor`: resolves with the exit status. */
export async function doctor(written: readonly string[]): Promise<number> {
  const request = readDoctorArguments(written)
  if (request.type === 'help') {
    printOwn(doctorHelp)
    return 0
  }
  if (request.type === 'wrong') return new Ending('doctor').wrong(request.message)
  const { json, send } = request
  const configuration = readConfiguration(process.env, process.cwd())
  const { options, described } = configuration
  const secrets = secretsOf(options)
  const say = (text: string) => void (json || printOwn(text))
  const { name, version } = runtimeIdentity()
  say(`sluice ${packageVersion}, ${name} ${version}\n\n`)
  if (described.length > 0) say(`${optionLines(hide(described, secrets))}\n`)
  const findings: Finding[] = []
  const show = (found: Finding) => {
    const finding = hide(found, secrets)
    findings.push(finding)
    say(findingLines(finding))
  }
  for (const finding of configuration.findings) show(finding)
  if (options !== undefined) for await (const finding of examine(options, { send })) show(finding)

  const crosses = findings.filter(({ state }) => state === 'bad').length
  const facts = {
    version: packageVersion,
    node: process.versions.node,
    options: optionFacts(described),
    checks: findings,
  }
  return new Ending('doctor', { json }).summary({
    ok: crosses === 0,
    facts: hide(facts, secrets),
    lines: ['', crosses === 0 ? 'all is well' : `${crosses} ${crosses === 1 ? 'thing' : 'things'} to mend`],
  })
}

/** Look at everything that can be looked at. */
async function* examine(options: ResolvedOptions, { send }: { readonly send: boolean }): AsyncGenerator<Finding> {
  yield* examineService(options, { send })
  yield* checkSpool(options)
  yield await checkWorker(options, longestLookMs)
}

/** Each look presumes those before it. */
async function* examineService(
  options: ResolvedOptions,
  { send }: { readonly send: boolean },
): AsyncGenerator<Finding> {
  const way = new Way(options.url, process.env)
  const plan = { way, ms: Math.min(options.requestTimeoutMs, longestLookMs) }
  if (way.proxyVariable !== undefined && way.proxyUrl === undefined) {
    const text = `${way.proxyVariable} is not the URL of an HTTP proxy: it is ignored`
    yield bad('proxy', { text, advice: `mend or unset ${way.proxyVariable}` })
  }
  for (const check of [checkName, checkConnection, checkCertificate]) {
    const finding = await check(plan)
    yield finding
    if (finding.state === 'bad') return yield skipped('service', 'not asked, for the above')
  }
  const { finding, sighting } = await greet(options.url, plan)
  yield finding
  if (sighting === undefined) return yield skipped('records', 'not sent, for the above')
  const delivery = { ...plan, options, sighting }
  if (send) return yield* checkDelivery(delivery)
  yield skipped('records', 'none sent (--no-send): the key and the buckets are not tried')
  yield expectSender(delivery)
}

/** What must not be printed, in whatever form it was written. */
function secretsOf(options: ResolvedOptions | undefined): string[] {
  const { SLUICE_API_KEY = '', SLUICE_ACCESS_TOKEN = '' } = process.env
  const secrets = [SLUICE_API_KEY.trim(), SLUICE_ACCESS_TOKEN.trim()]
  if (options !== undefined) {
    const { proxyUrl } = new Way(options.url, process.env)
    const password = proxyUrl === undefined ? '' : new URL(proxyUrl).password
    secrets.push(options.apiKey.reveal(), options.accessToken?.reveal() ?? '', password, decodeURIComponent(password))
  }
  return secrets.filter((secret) => secret !== '')
}

export type DoctorRequest =
  | { readonly type: 'run'; readonly send: boolean; readonly json: boolean }
  | { readonly type: 'help' }
  | { readonly type: 'wrong'; readonly message: string }

export const doctorHelp = `Usage: sluice doctor [options]

Looks at everything between an application in this folder, with these environment variables, and the service: the options and where each
of them comes from, the name, the connection, the certificate, the clock, the key and the buckets, the sender that the option
pipelining would take and why, the spool, and the delivery worker. Each is a line with a tick or a cross, and what to do about it.

  --no-send   send no record; without it, one log record of level warn and one value record (event 0) go to your buckets
  --json      ${jsonHelp}
  --help      print this

No key and no token is ever printed. Each look ends after SLUICE_REQUEST_TIMEOUT_MS, ten seconds at most (connecting and the answer each);
what cannot work for want of an earlier one is left out.

Exit status: 0 no cross, 1 at least one, 2 the command line is wrong.

Examples:
  sluice doctor
  sluice doctor --no-send
  sluice doctor --json | jq '.checks[] | select(.state == "bad")'
`

/** Read the command line of `sluice doctor`. */
export function readDoctorArguments(written: readonly string[]): DoctorRequest {
  const read = readArguments(written, {
    'no-send': { type: 'boolean' },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  })
  if (!read.ok) return { type: 'wrong', message: read.message }
  const { flags, operands } = read
  if (flags.has('help')) return { type: 'help' }
  if (operands.length > 0) return { type: 'wrong', message: `expected no operand, got ${operands.join(', ')}` }
  return { type: 'run', send: !flags.has('no-send'), json: flags.has('json') }
}
