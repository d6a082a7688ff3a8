import { ConfigError } from '../errors/sluice-error.js'
import { quoted, textOf } from '../errors/text-of.js'
import type { RecordKind } from '../records/wire.js'
import { ownField, ownFields } from '../runtime/own-fields.js'
import { type OptionRow, optionNames, optionTable, variablesOf } from './defaults.js'
import { type Environment, written, writtenRedaction } from './environment.js'
import { machineIdentity, serviceIdentity } from './identity.js'
import { nearestName } from './nearest-name.js'
import { checkOption, readVariable } from './option-value.js'
import type { OptionName, ResolvedOptions, SluiceOptions, Sources } from './options.js'
import { absolutePath } from './plain-file.js'
import { checkRedaction, keysExpected, listedNames, patternsExpected } from './redaction.js'
import { redacted, Secret } from './secret.js'

/**
 * The outcome of reading the configuration: complete options, and the reason if Sluice is off. While it is off nothing is delivered, and
 * the options may have no destination. `resolve` throws where a logger is `misconfigured`.
 */
export type Resolution = { readonly options: ResolvedOptions; readonly sources: Sources } & (
  | { readonly state: 'on' }
  | { readonly state: 'off'; readonly reason: 'disabled' | 'not-configured' | 'misconfigured' }
)

export interface Surroundings {
  readonly environment: Environment
  readonly needs: Need
  /** Where the search for the service's package.json begins; it goes upwards. @default the folder of the main script */
  readonly folder?: string | undefined
}

/** The purpose: a lane, which needs a bucket, or content, which needs a key or a token. */
export type Need = RecordKind | 'content'

/**
 * Makes complete options from those of the application, its environment and the defaults, in this order of precedence.
 *
 * Without URL, key and bucket Sluice is off: a developer's machine needs no configuration. Content is never off, as its callers wait for
 * an answer.
 *
 * @throws {ConfigError} with the option, its variable and the value, for anything invalid, unknown or missing
 */
export function resolve(user: SluiceOptions, { environment, needs, folder }: Surroundings): Resolution {
  refuseUnknown(user)
  const own = ownFields(user)
  const values: Partial<Record<OptionName, unknown>> = ownFields({})
  const sources: Partial<Record<OptionName, string>> = ownFields({})
  const files: Partial<Record<OptionName, string | undefined>> = ownFields({})
  for (const name of optionNames) {
    const row = optionTable[name]
    const found = fromUser(name, row, own) ?? fromEnvironment(name, row, environment)
    values[name] = found?.value ?? row.default
    files[name] = found?.file
    if (values[name] !== undefined) sources[name] = found?.source ?? 'default'
  }

  const destination = ['url', 'apiKey', 'bucket', 'logBucket', 'valueBucket'] as const
  const unconfigured = destination.every((name) => values[name] === undefined)
  const reason = values.disabled === true ? 'disabled' : unconfigured ? 'not-configured' : undefined
  const off = needs === 'content' ? undefined : reason

  fallBack(values, sources, { environment, folder })
  if (off === undefined) {
    if (needs === 'content') requireCredentials(values)
    else requireDestination(values, needs)
    refuseInsecure(values, sources)
  }
  if (values.disabled !== true) {
    requireOrder(values, sources, ['retryBaseMs', 'retryCapMs'])
    requireOrder(values, sources, ['probeBaseMs', 'probeCapMs'])
  }

  const { bucket, apiKey, accessToken, ...rest } = values
  const options = {
    ...rest,
    url: withoutEndSlashes(String(values.url ?? '')),
    apiKey: new Secret(String(apiKey ?? '')),
    spoolDir: absolutePath(values.spoolDir as string | undefined),
    apiKeyFile: absolutePath(files.apiKey),
    accessToken: accessToken === undefined ? undefined : new Secret(String(accessToken)),
    accessTokenFile: absolutePath(files.accessToken),
    logBucket: values.logBucket ?? bucket,
    valueBucket: values.valueBucket ?? bucket,
  }
  const complete = { options: options as unknown as ResolvedOptions, sources }
  return off === undefined ? { state: 'on', ...complete } : { state: 'off', reason: off, ...complete }
}

interface Found {
  readonly value: unknown
  readonly source: string
  readonly file?: string | undefined
}

function fromUser(name: OptionName, row: OptionRow, user: SluiceOptions): Found | undefined {
  const value: unknown = user[name]
  if (value === undefined || value === null || value === '') return undefined
  const checked = checkOption(row.kind, value)
  if (checked.ok) return { value: checked.value, source: 'option' }
  const shown = showable(row, value)
  throw new ConfigError({
    code: 'SLUICE_CONFIG_INVALID',
    option: name,
    variable: row.variable,
    value: shown,
    message: `option ${name}: expected ${checked.expected}, got ${quoted(shown)}`,
  })
}

function fromEnvironment(name: OptionName, row: OptionRow, environment: Environment): Found | undefined {
  if (row.kind.type === 'redaction') return redactionFrom(row, environment)
  const found = written(name, row, environment)
  if (found === undefined) return undefined
  const checked = readVariable(row.kind, found.text)
  if (checked.ok) return { value: checked.value, source: found.variable, file: found.file }
  const shown = showable(row, found.text)
  throw new ConfigError({
    code: 'SLUICE_CONFIG_INVALID',
    option: name,
    variable: found.variable,
    value: shown,
    origin: 'environment',
    message: `${found.variable} (option ${name}): expected ${checked.expected}, got ${quoted(shown)}`,
  })
}

/** Each variable gives one part of the option. */
function redactionFrom(row: OptionRow, environment: Environment): Found | undefined {
  const { keys, patterns } = writtenRedaction(row, environment)
  if (keys === undefined && patterns === undefined) return undefined
  const part = (variable: string, text: string | undefined, name: 'keys' | 'patterns', expected: string) => {
    if (text === undefined) return []
    const names = listedNames(text)
    if (checkRedaction({ [name]: names }) !== undefined) return names
    throw new ConfigError({
      code: 'SLUICE_CONFIG_INVALID',
      option: 'redact',
      variable,
      value: text,
      origin: 'environment',
      message: `${variable} (option redact): expected ${expected}, got ${quoted(text)}`,
    })
  }
  const value = checkRedaction({
    keys: part(row.variable!, keys, 'keys', keysExpected),
    patterns: part(row.patternsVariable!, patterns, 'patterns', patternsExpected),
  })
  const source = variablesOf(row).filter((_, index) => [keys, patterns][index] !== undefined)
  return { value, source: source.join(' and ') }
}

function refuseUnknown(user: SluiceOptions): void {
  if (typeof user !== 'object' || user === null) {
    throw new ConfigError({
      code: 'SLUICE_CONFIG_INVALID',
      option: 'options',
      message: `options: expected an object, got ${user === null ? 'null' : `a ${typeof user}`}`,
    })
  }
  for (const name of Object.keys(user)) {
    if (Object.hasOwn(optionTable, name)) continue
    const nearest = nearestName(name, optionNames)
    const hint = nearest === undefined ? '' : `; did you mean ${nearest}?`
    throw new ConfigError({
      code: 'SLUICE_CONFIG_UNKNOWN',
      option: name,
      message: `unknown option ${name}${hint}`,
    })
  }
}

function fallBack(
  values: Partial<Record<OptionName, unknown>>,
  sources: Partial<Record<OptionName, string>>,
  { environment, folder }: Pick<Surroundings, 'environment' | 'folder'>,
): void {
  const service = serviceIdentity(environment, folder)
  for (const name of ['appName', 'appVersion', 'env'] as const) {
    if (values[name] !== undefined || service[name] === undefined) continue
    values[name] = service[name].value
    sources[name] = service[name].source
  }
  if (values.mode === undefined) {
    const serverless = serverlessVariables.find((name) => (ownField(environment, name) ?? '') !== '')
    values.mode = serverless === undefined ? 'worker' : 'inline'
    sources.mode = serverless ?? 'default'
  }
  const machine = machineIdentity()
  for (const name of ['machineName', 'runtime', 'runtimeVersion'] as const) {
    if (values[name] !== undefined) continue
    values[name] = machine[name]
    sources[name] = 'default'
  }
}

/** Serverless runtimes freeze the process between calls, and a worker may not wake up in time. */
const serverlessVariables = ['AWS_LAMBDA_FUNCTION_NAME', 'K_SERVICE', 'VERCEL', 'FUNCTIONS_WORKER_RUNTIME']

function requireDestination(values: Partial<Record<OptionName, unknown>>, needs: RecordKind): void {
  const bucket = needs === 'logs' ? 'logBucket' : 'valueBucket'
  requireAll([
    ...(values.url === undefined ? [missing('url')] : []),
    ...(values.apiKey === undefined ? [missing('apiKey', optionTable.apiKey.fileVariable)] : []),
    ...((values.bucket ?? values[bucket]) ? [] : [missing('bucket', `${bucket}, ${optionTable[bucket].variable}`)]),
  ])
}

function requireCredentials(values: Partial<Record<OptionName, unknown>>): void {
  const credentials = values.apiKey ?? values.accessToken
  requireAll([
    ...(values.url === undefined ? [missing('url')] : []),
    ...(credentials === undefined ? [missing('apiKey', `accessToken, ${optionTable.accessToken.variable}`)] : []),
  ])
}

/** An option that is not set, with the words that say how to set it. */
interface Missing {
  readonly option: OptionName
  readonly variable: string | undefined
  readonly words: string
}

function missing(option: OptionName, instead?: string): Missing {
  const { variable } = optionTable[option]
  return { option, variable, words: instead === undefined ? `${variable}` : `${variable} (or ${instead})` }
}

/** Throws one error for all missing options, so that they can be set at once. */
function requireAll(all: readonly Missing[]): void {
  const [first] = all
  if (first === undefined) return
  const names = listed(all.map(({ option }) => option))
  const subject = all.length === 1 ? `option ${names} is missing: set it` : `options ${names} are missing: set them`
  throw new ConfigError({
    code: 'SLUICE_CONFIG_MISSING',
    option: first.option,
    variable: first.variable,
    origin: 'environment',
    message: `${subject} or ${listed(all.map(({ words }) => words))}`,
  })
}

function listed(words: readonly string[]): string {
  return [words.slice(0, -1).join(', '), ...words.slice(-1)].filter((part) => part !== '').join(' and ')
}

function refuseInsecure(values: Partial<Record<OptionName, unknown>>, sources: Sources): void {
  const url = new URL(String(values.url))
  if (url.protocol === 'https:' || values.allowInsecure === true || isLoopback(url.hostname)) return
  throw new ConfigError({
    code: 'SLUICE_CONFIG_INVALID',
    option: 'url',
    variable: optionTable.url.variable,
    value: url.href,
    origin: sources.url === 'option' ? 'code' : 'environment',
    message:
      `option url (SLUICE_URL): ${url.href} would send the key unencrypted; ` +
      'use https:, or set allowInsecure (SLUICE_ALLOW_INSECURE=true)',
  })
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)
}

function requireOrder(
  values: Partial<Record<OptionName, unknown>>,
  sources: Sources,
  [base, cap]: readonly [OptionName, OptionName],
): void {
  if (Number(values[base]) <= Number(values[cap])) return
  throw new ConfigError({
    code: 'SLUICE_CONFIG_INVALID',
    option: base,
    variable: optionTable[base].variable,
    value: values[base],
    // A variable that no longer suits an option of the code is a mistake of the environment.
    origin: [base, cap].some((name) => sources[name]?.startsWith('SLUICE_')) ? 'environment' : 'code',
    message: `option ${base}: expected at most ${cap} (${values[cap]}), got ${values[base]}`,
  })
}

function withoutEndSlashes(url: string): string {
  let end = url.length
  while (url[end - 1] === '/') end--
  return url.slice(0, end)
}

function showable(row: OptionRow, value: unknown): unknown {
  if (row.kind.type === 'secret') return redacted
  if (row.kind.type !== 'url') return value
  // A URL may hold a password by mistake. A text without a scheme may be the key.
  const text = textOf(value)
  if (!/^\s*[a-z]+:[\\/]{2}/i.test(text)) return redacted
  return text
    .replace(/^\s*([a-z]+:[\\/]*).*@/is, (_, scheme) => `${scheme}${redacted}@`)
    .replace(/[?#].*$/s, (rest) => `${rest[0]}${redacted}`)
}
