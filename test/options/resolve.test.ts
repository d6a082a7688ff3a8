import { realpathSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { optionNames as receiverOptions, variableOf } from '../../packages/receiver/src/options/option-table.js'
import { ConfigError, SluiceError } from '../../src/errors/sluice-error.js'
import type { ClientOptions } from '../../src/options/client-options.js'
import type { Table } from '../../src/options/option.js'
import { describeOptions, type SluiceOptions } from '../../src/options/options.js'
import { resolve } from '../../src/options/resolve.js'
import { Secret } from '../../src/options/secret.js'
import { table } from '../../src/options/table.js'
import { misspeltVariables } from '../../src/options/variables.js'

const rows: Table = table
const optionNames = Object.keys(table) as (keyof typeof table)[]
const destination = { url: 'https://api.example', apiKey: 'secret-key', bucket: 'demo' }

function resolved(user: SluiceOptions = {}, environment: Record<string, string> = {}) {
  const resolution = resolve({ ...destination, ...user }, { environment, needs: 'logs' })
  if (resolution.state === 'off') throw new Error(`off: ${resolution.reason}`)
  return resolution
}

function mistake(user: Record<string, unknown>, environment: Record<string, string> = {}): ConfigError {
  try {
    resolve(user as SluiceOptions, { environment, needs: 'logs' })
  } catch (error) {
    if (error instanceof ConfigError) return error
    throw error
  }
  throw new Error('expected a ConfigError')
}

/** The entry for the kind of an option, whose key matches the words for a valid value. It gets what the key captures. */
function ofKind<Entry>(entries: Readonly<Record<string, (...words: string[]) => Entry>>, row: Table[string]): Entry {
  for (const [words, entry] of Object.entries(entries)) {
    const [match, ...captured] = new RegExp(words).exec(row.kind.expected) ?? []
    if (match !== undefined) return entry(...captured)
  }
  throw new Error(`no entry for ${row.kind.expected}`)
}

describe('the options', () => {
  it('have an onError whose error has a code, for the compiler too', () => {
    const codes: string[] = []
    const { onError } = resolved({ onError: ({ code }) => codes.push(code) }).options
    onError?.(new SluiceError('SLUICE_DROPPED', '1 record'))
    expect(codes).toEqual(['SLUICE_DROPPED'])
  })

  it('beat the variables, which beat the defaults', () => {
    const environment = { SLUICE_MAX_QUEUE_RECORDS: '7', SLUICE_CONTEXT: 'logfmt' }
    expect(resolved({ maxQueueRecords: 3 }, environment).options).toMatchObject({
      maxQueueRecords: 3,
      context: 'logfmt',
      maxConnections: 64,
    })
    expect(resolved({ maxQueueRecords: 3 }, environment).sources).toMatchObject({
      maxQueueRecords: 'option',
      context: 'SLUICE_CONTEXT',
      maxConnections: 'default',
    })
  })

  it('may have quotes around them in the environment, as docker leaves them there', () => {
    const environment = {
      SLUICE_URL: '"https://api.example"',
      SLUICE_API_KEY: "'secret-key'",
      SLUICE_BUCKET: '"demo"',
      SLUICE_MAX_CONNECTIONS: '"7"',
      SLUICE_DEBUG: '""',
      SLUICE_APP_NAME: `"Ann's" shop`,
    }
    const { options } = resolve({}, { environment, needs: 'logs' })
    const { url, logBucket, maxConnections, debug, appName } = options
    expect({ url, logBucket, maxConnections, debug, appName, key: options.apiKey.reveal() }).toEqual({
      url: 'https://api.example',
      logBucket: 'demo',
      maxConnections: 7,
      debug: false,
      appName: `"Ann's" shop`,
      key: 'secret-key',
    })
  })

  it('are read from the environment alone as well', () => {
    const environment = {
      SLUICE_URL: 'https://api.example/base/',
      SLUICE_API_KEY: 'secret-key',
      SLUICE_LOG_BUCKET: 'logs',
      SLUICE_BUCKET: 'both',
      SLUICE_DEBUG: 'yes',
    }
    const resolution = resolve({}, { environment, needs: 'logs' })
    expect(resolution).toMatchObject({
      state: 'on',
      options: { url: 'https://api.example/base', logBucket: 'logs', valueBucket: 'both', debug: true },
    })
  })

  /** Two valid values of every kind, by the words for it: as the application gives it, and as a variable says it. */
  const samples: Readonly<
    Record<string, (word: string, other: string) => [given: unknown, written: string, read: unknown]>
  > = {
    '^a text$': () => ['/from the option', '/from-the-variable', '/from-the-variable'],
    '^a name ': () => ['of the option', 'of-the-variable', 'of-the-variable'],
    '^a text of visible': () => ['option-key', 'variable-key', 'variable-key'],
    '^an http: or': () => ['https://option.example', 'https://variable.example', 'https://variable.example'],
    '^true or false': () => [true, 'on', true],
    '^a whole number from (\\d+)': (min) => [Number(min) + 2, ` ${Number(min) + 3} `, Number(min) + 3],
    '^"(\\w+)" or "(\\w+)"': (first, second) => [first, second, second],
    '^an object with keys': () => [
      { keys: ['pin'], patterns: [], mask: 'x' },
      'pin, *code',
      { keys: ['pin', '*code'], patterns: [], mask: '[redacted]' },
    ],
    '^an object with (most|lines)': (count) => [
      { [count]: 3, windowMs: 100 },
      ' 10/60s ',
      { [count]: 10, windowMs: 60_000 },
    ],
    '^an object such as { debug': () => [{ http: 1, info: 0.25 }, 'Debug: 0.01, info:.5', { debug: 0.01, info: 0.5 }],
    '^a function': () => [() => {}, '', undefined],
  }
  /** Bounds that must stay in their order while one of them is changed. */
  const room = { retryBaseMs: 1, retryCapMs: 80_000_000, probeBaseMs: 1, probeCapMs: 80_000_000 }

  it.each(optionNames.filter((name) => rows[name]!.variables.length > 0))(
    'take %s from the option, else from its variable, else from the default',
    (name) => {
      const row = rows[name]!
      const variable = row.variables[0]!.name
      const [given, text, read] = ofKind(samples, row)
      const others: SluiceOptions = { ...destination, ...room, [name]: undefined }
      const environment = { [variable]: text, ...(name === 'disabled' ? {} : { SLUICE_DISABLED: 'no' }) }
      const look = (user: SluiceOptions, variables: Record<string, string>) => {
        const resolution = resolve({ ...others, ...user }, { environment: variables, needs: 'logs' })
        if (resolution.state === 'off') return { value: true, source: resolution.reason }
        const options = resolution.options as unknown as Record<string, unknown>
        const value = name === 'bucket' ? options.logBucket : options[name]
        return { value: value instanceof Secret ? value.reveal() : value, source: resolution.sources[name] }
      }
      const off = name === 'disabled'
      expect(look({}, environment)).toEqual({ value: read, source: off ? 'disabled' : variable })
      expect(look({ [name]: given }, environment)).toEqual({ value: given, source: off ? 'disabled' : 'option' })
      if (['url', 'apiKey', 'bucket'].includes(name)) {
        expect(() => look({}, { [variable]: ' ' })).toThrow(variable)
      } else {
        const unset = look({}, {})
        expect(look({}, { [variable]: ' ' })).toEqual(unset)
        if (row.default !== undefined && !(name in room))
          expect(unset).toEqual({ value: row.default, source: 'default' })
      }
    },
  )

  it.each(optionNames)('do not take %s, nor its variables, from the prototype of all objects', (name) => {
    const row = rows[name]!
    const [given, text] = ofKind(samples, row)
    const variables = Object.fromEntries(row.variables.map((variable) => [variable.name, text]))
    const hostile = { [name]: given, ...variables }
    const { apiKey: _, ...known } = destination
    const look = () => {
      const { options, sources } = resolve({ ...known }, { environment: { SLUICE_API_KEY: 'k' }, needs: 'logs' })
      const value = name === 'bucket' ? undefined : options[name]
      return { described: describeOptions(options, sources), value }
    }
    const before = JSON.stringify(look())
    for (const [key, value] of Object.entries(hostile)) {
      Object.defineProperty(Object.prototype, key, { value, configurable: true, writable: true })
    }
    try {
      expect(JSON.stringify(look())).toBe(before)
    } finally {
      for (const key of Object.keys(hostile)) delete (Object.prototype as Record<string, unknown>)[key]
    }
  })

  it('treat an empty variable as unset', () => {
    expect(resolved({}, { SLUICE_MAX_CONNECTIONS: '', SLUICE_APP_NAME: ' ' }).options.maxConnections).toBe(64)
  })

  it('have a value for every row of the table that has a default', () => {
    const { options } = resolved()
    for (const name of optionNames) {
      const row = rows[name]!
      if (row.default !== undefined) expect(options).toHaveProperty(name, row.default)
    }
  })

  it('name the service as OpenTelemetry, Datadog and npm do, in this order', () => {
    const otel = { OTEL_SERVICE_NAME: 'otel', OTEL_RESOURCE_ATTRIBUTES: 'service.name=attribute,service.version=1%2E2' }
    expect(resolved({}, { ...otel, DD_SERVICE: 'dd' }).options).toMatchObject({ appName: 'otel', appVersion: '1.2' })
    expect(resolved({}, { DD_SERVICE: 'dd', DD_ENV: 'staging', NODE_ENV: 'test' }).options).toMatchObject({
      appName: 'dd',
      env: 'staging',
    })
    expect(resolved({}, { SLUICE_APP_NAME: 'mine', ...otel }).options.appName).toBe('mine')
  })

  it('mean off without URL, key and bucket, and with disabled', () => {
    expect(resolve({}, { environment: {}, needs: 'logs' })).toMatchObject({ state: 'off', reason: 'not-configured' })
    expect(resolve(destination, { environment: { SLUICE_DISABLED: '1' }, needs: 'logs' })).toMatchObject({
      state: 'off',
      reason: 'disabled',
    })
  })

  it('read the key from a file', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'sluice-')), 'key')
    writeFileSync(file, 'from-file\n')
    const { options, sources } = resolved({ apiKey: undefined }, { SLUICE_API_KEY_FILE: file })
    expect(options.apiKey.reveal()).toBe('from-file')
    expect(sources.apiKey).toBe('SLUICE_API_KEY_FILE')
  })

  it('have absolute paths: they stay the same when the application changes its working directory', async () => {
    const folder = realpathSync(await mkdtemp(join(tmpdir(), 'sluice-')))
    for (const name of ['key', 'token']) writeFileSync(join(folder, name), 'k')
    const before = process.cwd()
    onTestFinished(() => process.chdir(before))
    process.chdir(folder)
    const environment = { SLUICE_API_KEY_FILE: 'key', SLUICE_ACCESS_TOKEN_FILE: './token', SLUICE_SPOOL_DIR: 'spool' }
    const { url } = destination
    const { accessToken } = resolve({ url }, { environment, needs: 'content' }).options
    const { apiKey, spoolDir } = resolved({ apiKey: undefined }, environment).options
    const paths = ['key', 'token', 'spool'].map((name) => join(folder, name))
    expect([apiKey.file, accessToken?.file, spoolDir]).toEqual(paths)
    expect(resolved({ spoolDir: '../spool' }).options.spoolDir).toBe(join(folder, '../spool'))
  })

  it('have a path as it is written where the working directory is gone', () => {
    vi.spyOn(process, 'cwd').mockImplementation(() => {
      throw new Error('ENOENT: no such file or directory, uv_cwd')
    })
    onTestFinished(() => void vi.restoreAllMocks())
    const spoolDirOf = (spoolDir: string) =>
      resolve({ ...destination, spoolDir }, { environment: {}, needs: 'logs', folder: '/' }).options.spoolDir
    expect(spoolDirOf('spool')).toBe('spool')
    expect(spoolDirOf('/spool')).toBe('/spool')
  })

  it('never show the key and the token', () => {
    const user = { ...destination, accessToken: 'secret-token' }
    const { options } = resolve(user, { environment: {}, needs: 'content' })
    const shown = [inspect(options, { depth: 9, showHidden: true }), JSON.stringify(options), `${options.apiKey}`]
    expect(shown.filter((text) => /secret-(key|token)/.test(text))).toEqual([])
  })

  it('need a key or a token and no bucket for content', () => {
    const url = 'https://api.example'
    const content = (user: ClientOptions, environment = {}) => resolve(user, { environment, needs: 'content' })
    expect(content({ url, apiKey: 'k' }).state).toBe('on')
    expect(content({ url, accessToken: 't' }).options.accessToken?.reveal()).toBe('t')
    expect(content({ url, apiKey: 'k' }, { SLUICE_DISABLED: '1' }).state).toBe('on')
    expect(() => content({})).toThrow('options url and apiKey are missing')
    expect(() => content({ apiKey: 'k' })).toThrow('option url is missing')
    expect(() => content({ url })).toThrow('option apiKey is missing: set it or SLUICE_API_KEY (or accessToken')
    expect(() => content({ url: 'http://api.example', accessToken: 't' })).toThrow('unencrypted')
  })
})

it.each([
  [200, {}],
  [0, { AWS_LAMBDA_FUNCTION_NAME: 'checkout' }],
  [50, { AWS_LAMBDA_FUNCTION_NAME: 'checkout', SLUICE_LINGER_MS: '50' }],
])('records gather for %d ms with %j: a frozen process would send them late or never', (lingerMs, environment) => {
  expect(resolve(destination, { environment, needs: 'logs' }).options.lingerMs).toBe(lingerMs)
})

describe('a mistake in the configuration', () => {
  it.each(['.', '..', ' ', '\t', '\u00a0', 'a\ud800', '\udc00', 'a\nb', 'a\u0000', 'a\u0085'])(
    'is a bucket that no URL can name: %j, as an option and as a variable',
    (bucket) => {
      for (const option of ['bucket', 'logBucket', 'valueBucket'] as const) {
        const variable = table[option].variables[0]!.name
        const given = mistake({ ...destination, [option]: bucket })
        expect(given).toMatchObject({ code: 'SLUICE_CONFIG_INVALID', option, variable, value: bucket })
        // White space around a variable is removed, and an empty variable is not set.
        if (bucket.trim() === '') continue
        expect(mistake({ ...destination, [option]: undefined }, { [variable]: bucket })).toMatchObject({
          option,
          variable,
        })
      }
    },
  )

  it('is an empty bucket where no other is set', () => {
    expect(mistake({ ...destination, bucket: '' })).toMatchObject({
      code: 'SLUICE_CONFIG_MISSING',
      option: 'bucket',
      variable: 'SLUICE_BUCKET',
    })
  })

  it('is not found in a bucket of any other characters', () => {
    for (const bucket of ['a b', 'büro/1', '...', '%2e%2e', '🚰', '.a']) {
      expect(resolve({ ...destination, bucket }, { environment: {}, needs: 'logs' }).options.logBucket).toBe(bucket)
    }
  })

  /** A wrong value of every kind, by the words for it: as the application gives it, and as a variable says it. */
  const wrong: Readonly<Record<string, (max: string) => [given: unknown, written: string | undefined]>> = {
    '^a text$': () => [7, undefined],
    '^a name ': () => ['..', '.'],
    '^a text of visible': () => ['se cret', 'se cret'],
    '^an http: or': () => ['ftp://api.example', 'ws://api.example'],
    '^true or false': () => ['true', 'maybe'],
    '^a whole number from \\d+ to (\\d+)': (max) => [Number(max) + 1, '1.5'],
    '^"': () => ['none of them', 'none of them'],
    '^an object with keys': () => [{ key: 'pin' }, `${'p'.repeat(201)}`],
    '^an object with (most|lines)': () => [{ most: 10, lines: 10, windowMs: 1000 }, '10 in 60s'],
    '^an object such as { debug': () => [['debug'], 'debug:1%'],
    '^a function': () => ['log', undefined],
  }

  it.each(optionNames)('in %s is reported with option, variable and value', (name) => {
    const row = rows[name]!
    const [given, text] = ofKind(wrong, row)
    const shown = (value: unknown) => (row.kind === table.apiKey.kind ? '[redacted]' : value)
    const byOption = mistake({ ...destination, [name]: given })
    expect(byOption).toMatchObject({ code: 'SLUICE_CONFIG_INVALID', option: name, value: shown(given) })
    expect(byOption.message).toMatch(new RegExp(`^option ${name}: expected .+, got `))
    const variable = row.variables[0]?.name
    if (variable === undefined || text === undefined) return
    const byVariable = mistake({ ...destination, [name]: undefined }, { [variable]: text })
    expect(byVariable).toMatchObject({ option: name, variable, value: shown(text) })
    expect(byVariable.message).toMatch(new RegExp(`^${variable} \\(option ${name}\\): expected .+, got `))
  })

  it.each([
    ['localhost:18400', '; write http://localhost:18400'],
    ['127.0.0.1:8080/base', '; write http://127.0.0.1:8080/base'],
    ['[::1]:18400', '; write http://[::1]:18400'],
    ['logs.example:8443', '; write https://logs.example:8443, or http://logs.example:8443'],
    // These may be the key.
    ['api.example', '; a URL begins with http:// or https://'],
    ['user:password@localhost:1', '; a URL begins with http:// or https://'],
    ['localhost:1/?key=k', '; a URL begins with http:// or https://'],
  ])('says of the URL %s without a scheme what to write', (url, ending) => {
    const { message } = mistake({}, { SLUICE_URL: url, SLUICE_API_KEY: 'k', SLUICE_BUCKET: 'b' })
    expect(message).toBe(
      `SLUICE_URL (option url): expected an http: or https: URL without credentials and query, got "[redacted]"${ending}`,
    )
    expect(mistake({ ...destination, url }, {}).message).toContain(ending)
  })

  it.each<[Record<string, unknown>, Record<string, string>, Partial<ConfigError>]>([
    [{ ...destination, url: 'api.example' }, {}, { option: 'url', value: '[redacted]' }],
    [{ ...destination, maxConnections: -1 }, {}, { option: 'maxConnections', value: -1 }],
    [{ ...destination, maxConnections: '5' }, {}, { option: 'maxConnections', value: '5' }],
    [{ ...destination, context: 'xml' }, {}, { option: 'context', value: 'xml' }],
    [
      destination,
      { SLUICE_MAX_CONNECTIONS: 'many' },
      { option: 'maxConnections', variable: 'SLUICE_MAX_CONNECTIONS', value: 'many' },
    ],
    [destination, { SLUICE_DEBUG: 'maybe' }, { option: 'debug', variable: 'SLUICE_DEBUG', value: 'maybe' }],
    [destination, { SLUICE_SHUTDOWN_TIMEOUT_MS: '9000' }, { option: 'shutdownTimeoutMs', value: '9000' }],
    [{ ...destination, retryBaseMs: 9, retryCapMs: 1 }, {}, { option: 'retryBaseMs', value: 9 }],
    [{ ...destination, url: 'http://api.example' }, {}, { option: 'url', variable: 'SLUICE_URL' }],
  ])('in %j with %j is a ConfigError that names it', (user, environment, expected) => {
    const error = mistake(user, environment)
    expect(error).toMatchObject({ code: 'SLUICE_CONFIG_INVALID', ...expected })
    expect(error.message).toContain(expected.option)
    if (expected.variable !== undefined) expect(error.message).toContain(expected.variable)
  })

  it('names the option that is missing and the variable that could set it', () => {
    expect(mistake({ url: 'https://api.example' })).toMatchObject({
      code: 'SLUICE_CONFIG_MISSING',
      option: 'apiKey',
      variable: 'SLUICE_API_KEY',
    })
    expect(mistake({ url: 'https://api.example', apiKey: 'k' }).message).toContain('SLUICE_BUCKET')
  })

  it('names all missing options at once', () => {
    expect(mistake({ url: 'https://api.example' }).message).toBe(
      'options apiKey and bucket are missing: set them or SLUICE_API_KEY (or SLUICE_API_KEY_FILE)' +
        ' and SLUICE_BUCKET (or logBucket, SLUICE_LOG_BUCKET)',
    )
    expect(mistake({ bucket: 'b' }).message).toMatch(/^options url and apiKey are missing/)
    expect(mistake({ url: 'https://api.example', bucket: 'b' }).message).toMatch(
      /^option apiKey is missing: set it or /,
    )
  })

  it('names the nearest option for a misspelt one', () => {
    expect(mistake({ ...destination, maxConection: 1 })).toMatchObject({
      code: 'SLUICE_CONFIG_UNKNOWN',
      option: 'maxConection',
    })
    expect(mistake({ ...destination, maxConection: 1 }).message).toContain('did you mean maxConnections?')
  })

  it('names the nearest variable for a misspelt one, and ignores those of Kubernetes', () => {
    const environment = { SLUICE_MAX_CONNECTION: '1', SLUICE_SERVICE_HOST: '10.0.0.1', SLUICE_PORT_80_TCP: 'x' }
    expect(misspeltVariables(environment)).toEqual([
      { variable: 'SLUICE_MAX_CONNECTION', nearest: 'SLUICE_MAX_CONNECTIONS' },
    ])
  })

  it.each([
    ['SLUICE_KEY', 'SLUICE_API_KEY'],
    ['SLUICE_MAX_QUEUE', 'SLUICE_MAX_QUEUE_RECORDS'],
    ['SLUICE_SPOOL', 'SLUICE_SPOOL_DIR'],
    ['SLUICE_TIMEOUT_MS', 'SLUICE_REQUEST_TIMEOUT_MS'],
  ])('takes %s for a part of %s', (variable, nearest) => {
    expect(misspeltVariables({ [variable]: 'x' })).toEqual([{ variable, nearest }])
  })

  it('ignores variables that Kubernetes and images set', () => {
    const names = ['SERVICE_HOST', 'SERVICE_PORT', 'PORT', 'PORT_18400_TCP_ADDR', 'RECEIVER_SERVICE_HOST', 'VERSION']
    expect(misspeltVariables(Object.fromEntries(names.map((name) => [`SLUICE_${name}`, 'x'])))).toEqual([])
  })

  it('ignores the variables of the receiver, which an application may share', () => {
    const names = receiverOptions.map(variableOf)
    expect(names).toContain('SLUICE_DATABASE')
    expect(misspeltVariables(Object.fromEntries(names.map((name) => [name, 'x'])))).toEqual([])
  })

  it('does not repeat a key that is wrong', () => {
    const error = mistake({ ...destination, apiKey: 'se cret' })
    expect(inspect(error, { depth: 9 })).not.toContain('se cret')
  })

  it('does not repeat the password in a URL', () => {
    const urls = [
      ...['https://user:hunter2@api.example', 'https://:hunter2@api.example', 'https:user:hunter2@api.example'],
      ...['https:\\\\user:hunter2@api.example', 'https://user:hunter2/x@api.example', 'user:hunter2@api.example'],
      ...[
        'https://user:hunter2@api.example/@',
        'ftp://user:@hunter2@api.example',
        ' https://user:hunter2\n@api.example',
      ],
    ]
    for (const url of urls) {
      expect(inspect(mistake({ ...destination, url }), { depth: 9 }), url).not.toContain('hunter2')
    }
  })

  it('does not repeat a URL without a scheme, nor options that are a text: they may be the key', () => {
    const key = 'K3y-that-must-not-be-seen'
    const mistakes = [
      mistake({ ...destination, url: key }),
      mistake({ apiKey: 'k', bucket: 'b' }, { SLUICE_URL: ` ${key}/:x` }),
      mistake(key as never),
    ]
    for (const each of mistakes) expect(inspect(each, { depth: 9 })).not.toContain('K3y')
  })

  it('accepts plain http on loopback, and elsewhere with allowInsecure', () => {
    expect(resolved({ url: 'http://127.0.0.1:18400' }).options.url).toBe('http://127.0.0.1:18400')
    expect(resolved({ url: 'http://[::1]:1' }).options.url).toBe('http://[::1]:1')
    expect(resolved({ url: 'http://api.example', allowInsecure: true }).options.url).toBe('http://api.example')
  })
})
