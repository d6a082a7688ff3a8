import { runtimeIdentity } from '../../options/identity.js'
import type { ResolvedOptions } from '../../options/options.js'
import { hide } from '../../options/secret.js'
import { packageVersion } from '../../runtime/version.js'
import { Ending } from '../ending.js'
import { printOwn } from '../terminal.js'
import { checkCertificate } from './certificate-check.js'
import { greet } from './clock-check.js'
import { readConfiguration } from './configuration-check.js'
import { checkDelivery, expectSender } from './delivery-check.js'
import { doctorHelp, readDoctorArguments } from './doctor-arguments.js'
import { bad, type Finding, skipped } from './finding.js'
import { checkConnection, checkName } from './network-checks.js'
import { findingLines, optionFacts, optionLines } from './report.js'
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
