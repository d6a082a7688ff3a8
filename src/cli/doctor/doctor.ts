import { counted } from '../../errors/counted.js'
import { runtimeIdentity } from '../../options/identity.js'
import type { ResolvedOptions } from '../../options/options.js'
import { hide } from '../../options/secret.js'
import { packageVersion } from '../../runtime/version.js'
import type { Command } from '../command.js'
import { jsonHelp, type Output, printOwn, type Status } from '../output.js'
import { checkClock } from './clock-check.js'
import { readConfiguration } from './configuration-check.js'
import { checkDelivery, expectSender, testEventId, testMessage } from './delivery-check.js'
import { bad, type Finding, findingLines, optionFacts, optionLines, skipped } from './finding.js'
import { checkCertificate, checkConnection, checkName } from './network-checks.js'
import { checkReceiver, receiverHere } from './receiver-check.js'
import { Route } from './route.js'
import { checkSpool } from './spool-check.js'
import { checkWorker } from './worker-check.js'

interface DoctorArguments {
  readonly send: boolean
  readonly verbose: boolean
  readonly json: boolean
}

const help = `Usage: sluice doctor [options]

Checks everything between an application in this folder, with these environment variables, and
the service. It lists the options that are set, with their sources. Then it checks the host
name, the connection, the certificate, the clock, whether a receiver answers, the key and the
buckets, the way in which records are sent, the spool, and the delivery worker. Each check prints
a tick or a cross, and what to do about a cross.

  --no-send   write no record; without it, one log record of level warn, with the message
              "${testMessage}", and one value record, event ${testEventId}, go to your buckets;
              each check says what was written, and where
  --verbose   list the options that are not set, too, with their defaults
  --json      ${jsonHelp}
  --help      print this

Keys and tokens are never printed. Each check ends after SLUICE_REQUEST_TIMEOUT_MS, and after
ten seconds at most; connecting and waiting for the answer have this time each. A check is
skipped when an earlier one shows that it cannot succeed.

Exit status: 0 no cross, 1 at least one cross, 2 the command line is wrong.

Examples:
  sluice doctor
  sluice doctor --no-send
  sluice doctor --json | jq '.checks[] | select(.state == "bad")'
`

/** The command `sluice doctor`. */
export const doctor: Command<DoctorArguments> = {
  name: 'sluice doctor',
  help,
  options: { 'no-send': { type: 'boolean' }, verbose: { type: 'boolean', short: 'v' } },
  read({ flags, operands }) {
    if (operands.length > 0) return `expected no operand, got ${operands.join(', ')}`
    return { send: !flags.has('no-send'), verbose: flags.has('verbose'), json: flags.has('json') }
  },
  run,
}

/** No check takes longer. */
const longestCheckMs = 10_000

async function run({ send, verbose, json }: DoctorArguments, output: Output): Promise<Status> {
  const configuration = readConfiguration(process.env, process.cwd())
  const { options, described } = configuration
  const secrets = secretsOf(options)
  const print = (text: string) => void (json || printOwn(text))
  const { name, version } = runtimeIdentity()
  print(`sluice ${packageVersion}, ${name} ${version}\n\n`)
  if (described.length > 0) print(`${optionLines(hide(described, secrets), { verbose })}\n`)
  const findings: Finding[] = []
  const show = (found: Finding) => {
    const finding = hide(found, secrets)
    findings.push(finding)
    print(findingLines(finding))
  }
  for (const finding of configuration.findings) show(finding)
  if (options === undefined) show(receiverHere(process.cwd()))
  else for await (const finding of checkAll(options, { send })) show(finding)

  const problems = findings.filter(({ state }) => state === 'bad').length
  const facts = {
    version: packageVersion,
    node: process.versions.node,
    options: optionFacts(described),
    checks: findings,
  }
  const verdict = problems === 0 ? 'no problems found' : `${counted(problems, 'problem')} found`
  return output.summary({ ok: problems === 0, facts: hide(facts, secrets), lines: ['', verdict] })
}

async function* checkAll(options: ResolvedOptions, { send }: { readonly send: boolean }): AsyncGenerator<Finding> {
  yield* checkService(options, { send })
  yield* checkSpool(options)
  yield await checkWorker(options, longestCheckMs)
}

/** Each check presumes that the checks before it succeed. */
async function* checkService(options: ResolvedOptions, { send }: { readonly send: boolean }): AsyncGenerator<Finding> {
  const route = new Route(options.url, process.env)
  const plan = { route, ms: Math.min(options.requestTimeoutMs, longestCheckMs) }
  if (route.proxyVariable !== undefined && route.proxyUrl === undefined) {
    const text = `${route.proxyVariable} is not the URL of an HTTP proxy: it is ignored`
    yield bad('proxy', { text, advice: `correct or unset ${route.proxyVariable}` })
  }
  for (const check of [checkName, checkConnection, checkCertificate]) {
    const finding = await check(plan)
    yield finding
    if (finding.state === 'bad') return yield skipped('service', 'not asked, because of the problem above')
  }
  const { finding, isPlain } = await checkClock(options.url, plan)
  yield finding
  if (isPlain === undefined) return yield skipped('records', 'not sent, because of the problem above')
  yield await checkReceiver(options, plan)
  const delivery = { ...plan, options, isPlain }
  if (send) return yield* checkDelivery(delivery)
  yield skipped('records', 'none sent (--no-send): the key and the buckets are not checked')
  yield expectSender(delivery)
}

/** Texts that must not be printed, in each form in which they may be written. */
function secretsOf(options: ResolvedOptions | undefined): string[] {
  const { SLUICE_API_KEY = '', SLUICE_ACCESS_TOKEN = '' } = process.env
  const secrets = [SLUICE_API_KEY.trim(), SLUICE_ACCESS_TOKEN.trim()]
  if (options !== undefined) {
    const { proxyUrl } = new Route(options.url, process.env)
    const password = proxyUrl === undefined ? '' : new URL(proxyUrl).password
    secrets.push(options.apiKey.reveal(), password, decodeURIComponent(password))
  }
  return secrets.filter((secret) => secret !== '')
}
