import { ConfigError, type ConfigMistake } from '../errors/sluice-error.js'
import { quoted } from '../errors/text-of.js'
import type { RecordKind } from '../records/wire.js'
import { ownFields } from '../runtime/own-fields.js'
import { type ClientOptions, clientTable, type ResolvedClientOptions } from './client-options.js'
import { type Environment, written } from './environment.js'
import { isLoopback } from './kinds.js'
import { nearestName } from './nearest-name.js'
import type { Around, Fallback, Option, Table } from './option.js'
import { isNone, type OptionName, type ResolvedOptions, type SluiceOptions, type Sources } from './options.js'
import { table } from './table.js'

/**
 * The outcome of reading the configuration: complete options, and the reason if Sluice is off. While it is off nothing is delivered, and
 * the options may have no destination. `resolve` throws where a logger is `misconfigured`.
 */
export type Resolution<Options = ResolvedOptions> = { readonly options: Options; readonly sources: Sources } & (
  | { readonly state: 'on' }
  | { readonly state: 'off'; readonly reason: 'disabled' | 'not-configured' | 'misconfigured' }
)

export interface Surroundings extends Omit<Around, 'earlier'> {
  readonly needs: Need
}

/** The purpose: a lane, which needs a bucket, or content, which needs a key or a token. */
export type Need = RecordKind | 'content'

const clientRows: Table = { ...table, ...clientTable }

/**
 * Makes complete options from those of the application, its environment and the defaults, in this order of precedence.
 *
 * Without URL, key and bucket Sluice is off: a developer's machine needs no configuration. Content is never off, as its callers wait for
 * an answer.
 *
 * @throws {ConfigError} with the option, its variable and the value, for anything invalid, unknown or missing
 */
export function resolve(
  user: ClientOptions,
  around: Surroundings & { readonly needs: 'content' },
): Resolution<ResolvedClientOptions>
export function resolve(user: SluiceOptions, around: Surroundings): Resolution
export function resolve(user: SluiceOptions, { needs, ...around }: Surroundings): Resolution {
  const rows = needs === 'content' ? clientRows : table
  refuseUnknown(user, rows)
  const own: Readonly<Record<string, unknown>> = ownFields(user)
  const values: Record<string, unknown> = ownFields({})
  const sources: Record<string, string> = ownFields({})
  const earlier: Around['earlier'] = (name) =>
    sources[name] === undefined ? undefined : { value: values[name], source: sources[name] }
  for (const [name, row] of Object.entries<Row>(rows)) {
    const given = fromUser(name, row, own[name]) ?? fromEnvironment(name, row, around.environment)
    const found = given ?? row.fallback?.({ ...around, earlier }) ?? { value: row.default, source: 'default' }
    values[name] = found.value
    if (found.value !== undefined) sources[name] = found.source
  }

  const unconfigured = (['url', 'apiKey', 'bucket', 'logBucket', 'valueBucket'] as const).every((name) =>
    isNone(values[name]),
  )
  const reason = values.disabled === true ? 'disabled' : unconfigured ? 'not-configured' : undefined
  const off = needs === 'content' ? undefined : reason
  if (off === undefined) {
    requireDestination(values, needs)
    refuseInsecure(values, sources)
  }
  if (values.disabled !== true) {
    requireOrder(values, sources, ['retryBaseMs', 'retryCapMs'])
    requireOrder(values, sources, ['probeBaseMs', 'probeCapMs'])
  }
  // Each lane has its bucket.
  const { bucket: _, ...options } = values
  const complete = { options: options as unknown as ResolvedOptions, sources }
  return off === undefined ? { state: 'on', ...complete } : { state: 'off', reason: off, ...complete }
}

/** One option from the environment alone. The default if the variable is unset or wrong: the end of the process must not fail for it. */
export function loneOption<Name extends 'shutdownTimeoutMs' | 'handleSignals'>(
  name: Name,
  environment: Environment,
): ResolvedOptions[Name]
export function loneOption(name: 'shutdownTimeoutMs' | 'handleSignals', environment: Environment): unknown {
  const row: Row = table[name]
  try {
    return fromEnvironment(name, row, environment)?.value ?? row.default
  } catch {
    return row.default
  }
}

type Row = Option<unknown, unknown>
type Values = Readonly<Record<string, unknown>>

function fromUser(option: string, { kind, variables }: Row, value: unknown): Fallback<unknown> | undefined {
  if (value === undefined || value === null || value === '') return undefined
  const checked = kind.check(value)
  if (checked !== undefined) return { value: checked, source: 'option' }
  throw wrong(kind, value, { option, variable: variables[0]?.name, origin: 'code' })
}

/** The value of the first variable that is set, or of all of them where each gives a part. */
function fromEnvironment(option: string, { kind, variables }: Row, environment: Environment) {
  const found: Fallback<unknown>[] = []
  for (const variable of variables) {
    if (found.length > 0 && kind.join === undefined) break
    const given = written(option, variable, environment)
    if (given === undefined) continue
    const own = variable.kind ?? kind
    const value = own.read(given.text, given.file)
    if (value === undefined) throw wrong(own, given.text, { option, variable: variable.name, origin: 'environment' })
    found.push({ value, source: variable.name })
  }
  if (found.length < 2 || kind.join === undefined) return found[0]
  return { value: kind.join(found.map(({ value }) => value)), source: found.map(({ source }) => source).join(' and ') }
}

function wrong(
  kind: Row['kind'],
  value: unknown,
  { option, variable, origin }: Pick<ConfigError, 'option' | 'variable' | 'origin'>,
): ConfigError {
  const shown = kind.show === undefined ? value : kind.show(value)
  const ofCode = origin === 'code'
  const place = ofCode ? `option ${option}` : `${variable} (option ${option})`
  const remedy = kind.remedy?.(value)
  const expected = ofCode ? kind.expected : (kind.expectedText ?? kind.expected)
  return invalid({
    option,
    variable,
    value: shown,
    origin,
    message: `${place}: expected ${expected}, got ${quoted(shown)}${remedy === undefined ? '' : `; ${remedy}`}`,
  })
}

function invalid(mistake: Omit<ConfigMistake, 'code'>): ConfigError {
  return new ConfigError({ code: 'SLUICE_CONFIG_INVALID', ...mistake })
}

function refuseUnknown(user: object, rows: Table): void {
  if (typeof user !== 'object' || user === null) {
    const got = user === null ? 'null' : `a ${typeof user}`
    throw invalid({ option: 'options', message: `options: expected an object, got ${got}` })
  }
  const unknown = Object.keys(user).find((name) => !Object.hasOwn(rows, name))
  if (unknown === undefined) return
  const nearest = nearestName(unknown, Object.keys(rows))
  const hint = nearest === undefined ? '' : `; did you mean ${nearest}?`
  throw new ConfigError({ code: 'SLUICE_CONFIG_UNKNOWN', option: unknown, message: `unknown option ${unknown}${hint}` })
}

/** Throws one error for all missing options, so that they can be set at once. */
function requireDestination(values: Values, needs: Need): void {
  const missing: Missing[] = []
  if (isNone(values.url)) missing.push({ option: 'url' })
  const bucket = needs === 'values' ? 'valueBucket' : 'logBucket'
  if (needs === 'content') {
    const credentials = isNone(values.apiKey) ? values.accessToken : values.apiKey
    if (isNone(credentials))
      missing.push({ option: 'apiKey', instead: `accessToken, ${variableOf(clientTable.accessToken)}` })
  } else {
    if (isNone(values.apiKey)) missing.push({ option: 'apiKey', instead: `${table.apiKey.variables[1]?.name}` })
    if (isNone(values[bucket])) missing.push({ option: 'bucket', instead: `${bucket}, ${variableOf(table[bucket])}` })
  }
  const [first] = missing
  if (first === undefined) return
  const names = listed(missing.map(({ option }) => option))
  const subject = missing.length === 1 ? `option ${names} is missing: set it` : `options ${names} are missing: set them`
  const words = missing.map(({ option, instead }) =>
    instead === undefined ? variableOf(table[option]) : `${variableOf(table[option])} (or ${instead})`,
  )
  throw new ConfigError({
    code: 'SLUICE_CONFIG_MISSING',
    option: first.option,
    variable: variableOf(table[first.option]),
    origin: 'environment',
    message: `${subject} or ${listed(words)}`,
  })
}

/** An option that is not set, with the words for another way to set it. */
interface Missing {
  readonly option: 'url' | 'apiKey' | 'bucket'
  readonly instead?: string
}

function variableOf({ variables: [variable] }: Row): string {
  return variable!.name
}

function listed(words: readonly string[]): string {
  return [words.slice(0, -1).join(', '), ...words.slice(-1)].filter((part) => part !== '').join(' and ')
}

function refuseInsecure(values: Values, sources: Sources): void {
  const url = new URL(String(values.url))
  if (url.protocol === 'https:' || values.allowInsecure === true || isLoopback(url.hostname)) return
  throw invalid({
    option: 'url',
    variable: variableOf(table.url),
    value: url.href,
    origin: sources.url === 'option' ? 'code' : 'environment',
    message:
      `option url (SLUICE_URL): ${url.href} would send the key unencrypted; ` +
      'use https:, or set allowInsecure (SLUICE_ALLOW_INSECURE=true)',
  })
}

function requireOrder(values: Values, sources: Sources, [base, cap]: readonly [OptionName, OptionName]): void {
  if (Number(values[base]) <= Number(values[cap])) return
  throw invalid({
    option: base,
    variable: variableOf(table[base]),
    value: values[base],
    // A variable that no longer suits an option of the code is a mistake of the environment.
    origin: [base, cap].some((name) => sources[name]?.startsWith('SLUICE_')) ? 'environment' : 'code',
    message: `option ${base}: expected at most ${cap} (${values[cap]}), got ${values[base]}`,
  })
}
