import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, it } from 'vitest'
import { misspeltVariables } from '../../../src/options/variables.js'
import { full } from '../../../test/support/full.js'
import { readArguments } from '../dist/arguments.js'
import { optionNames, variableOf, writtenName } from '../dist/options/option-table.js'
import { readOptions, unknownVariables } from '../dist/options/read-options.js'
import { dataFolder } from './data-folder.js'
import { killAll, readyWith, start, startWith } from './processes.js'

const data = dataFolder()
afterEach(killAll)

/** The error of a receiver that does not start. */
async function failure(variables: Record<string, string>, ...args: string[]): Promise<string> {
  const { child, exit } = startWith(variables, ...args)
  const [stderr, [code]] = await Promise.all([text(child.stderr), exit])
  expect(code).toBe(2)
  return stderr
}

describe('the options of sluice-receiver', () => {
  it('are set by variables', async () => {
    const variables = {
      SLUICE_RECEIVER_DATA: data.path,
      SLUICE_RECEIVER_HOST: '::1',
      SLUICE_RECEIVER_PAGE_HOST: 'a.test:1',
    }
    const { url, page } = await readyWith(variables)
    expect(url).toMatch(/^http:\/\/\[::1\]:/)
    expect(page).toMatch(/^http:\/\/a\.test:1\//)
    expect(data.inDatabase((database) => database.prepare('SELECT id FROM projects').all())).toEqual([{ id: 'demo' }])
  })

  it.runIf(full)('win over their variables', async () => {
    const { lines } = await readyWith(
      { SLUICE_RECEIVER_PORT: 'many', SLUICE_RECEIVER_DATA: '/proc/x' },
      '--data',
      ':memory:',
    )
    expect(lines).toHaveLength(1)
    const flags = { SLUICE_RECEIVER_JSON: 'true', SLUICE_RECEIVER_PORT: '0', SLUICE_RECEIVER_DATA: ':memory:' }
    const { child } = startWith(flags, '--no-json')
    const [greeting] = await child.stdout.take(1).toArray()
    expect(String(greeting)).toMatch(/^sluice-receiver is ready/)
  })

  it.runIf(full)('win over the variable of the other place for records, and name one place', () => {
    const environment = { SLUICE_DATABASE: 'postgres://db/logs' }
    expect(readOptions({}, environment).database).toBe('postgres://db/logs')
    expect(readOptions({ data: 'folder' }, environment)).toMatchObject({ data: 'folder', database: undefined })
    expect(() => readOptions({ data: 'folder', database: ['postgres://db/logs'] }, {})).toThrow('--data and --database')
  })

  it('name one database: another one has receivers of its own', () => {
    const urls = ['postgres://u:secret@one/logs', 'postgres://u:secret@two/logs']
    const expected = 'expected one URL such as postgres://user:password@host:5432/database'
    expect(
      readArguments(
        urls.flatMap((url) => ['--database', url]),
        {},
      ),
    ).toEqual({
      type: 'wrong',
      message: `--database: ${expected}`,
    })
    expect(() => readOptions({}, { SLUICE_DATABASE: urls.join(' ') })).toThrow(`SLUICE_DATABASE: ${expected}`)
  })

  it.runIf(full)('have their defaults where a variable is empty', () => {
    const empty = Object.fromEntries(optionNames.map((name) => [variableOf(name), ' ']))
    expect(readOptions({}, empty)).toEqual(readOptions({}, {}))
    expect(readOptions({}, {})).toMatchObject({ port: 18_400, host: '127.0.0.1', data: 'sluice-data', json: false })
  })

  it.runIf(full).each([
    ['SLUICE_RECEIVER_PORT', '70000', 'expected a number from 0 to 65535, got "70000"'],
    ['SLUICE_RECEIVER_RATE_LIMIT', '0/s', 'expected records per second, such as 1000/s, got "0/s"'],
    ['SLUICE_RECEIVER_RETAIN', '0d', 'expected minutes, hours or days, at least 1m, such as 7d, got "0d"'],
    ['SLUICE_RECEIVER_NEW_KEY', 'perhaps', 'expected true or false, got "perhaps"'],
    ['SLUICE_RECEIVER_PAGE_HOST', 'http://x/', 'expected a name such as logs.example.com:8443, got "http://x/"'],
  ])('name the variable %s that has a bad value', async (variable, value, expected) => {
    const stderr = await failure({ [variable]: value }, '--data', ':memory:')
    expect(stderr).toBe(`sluice-receiver: ${variable}: ${expected}\n`)
  })

  it.runIf(full)('name the variable of a half that is missing', async () => {
    const stderr = await failure({ SLUICE_RECEIVER_TLS_CERT: 'cert.pem' }, '--data', ':memory:')
    expect(stderr).toBe('sluice-receiver: --tls-cert needs --tls-key: set it, or SLUICE_RECEIVER_TLS_KEY\n')
  })

  it('are all in the help, with their variables', async () => {
    const { child } = start('--help')
    const help = await text(child.stdout)
    for (const name of optionNames) expect(help).toMatch(new RegExp(`--${writtenName(name)}.*, ${variableOf(name)}\n`))
  })

  it('have variables that the library does not take for misspelt ones of its own', () => {
    expect(misspeltVariables(Object.fromEntries(optionNames.map((name) => [variableOf(name), 'x'])))).toEqual([])
  })
})

describe('an unknown variable of the receiver', () => {
  it.runIf(full)('is reported with the nearest name, and the receiver starts', async () => {
    const { child } = await readyWith({ SLUICE_RECEIVER_PROT: '1' }, '--data', ':memory:')
    child.kill('SIGTERM')
    expect(await text(child.stderr)).toBe(
      'sluice-receiver: there is no variable SLUICE_RECEIVER_PROT; did you mean SLUICE_RECEIVER_PORT?\n',
    )
  })

  it('is reported without a name where none is near', () => {
    expect(unknownVariables({ SLUICE_RECEIVER_COLOUR: 'red', SLUICE_URL: 'x' })).toEqual([
      'there is no variable SLUICE_RECEIVER_COLOUR',
    ])
  })

  it('is left alone where Kubernetes sets it for a service with the name of the receiver', () => {
    const links = {
      SLUICE_RECEIVER_PORT: 'tcp://10.0.0.1:80',
      SLUICE_RECEIVER_PORT_80_TCP_ADDR: '10.0.0.1',
      SLUICE_RECEIVER_SERVICE_HOST: '10.0.0.1',
    }
    expect(unknownVariables(links)).toEqual([])
    expect(readOptions({}, links).port).toBe(18_400)
  })
})
