import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { oneLine } from '../../src/errors/text-of.js'
import { FaultServer } from '../support/fault-server.js'
import { full } from '../support/full.js'
import { startProgram } from '../support/programs.js'
import { folderHere } from '../support/shipped.js'
import { setUpSpool, spoolFolder } from '../support/spool.js'

/** Colours, a link, a title, a bell, a carriage return, C1 controls, line ends, a change of the writing direction. */
const hostile =
  '\u001b[2J\u001b]8;;http://evil\u0007\u001b]0;t\u0007\rsluice: all is well\n\u009b31m\u0085\u2028\u202e\u200f\u061cx\u007f\b'
const unsafe = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/u

let server: FaultServer
let folder: string
beforeEach(async () => {
  folder = folderHere()
  const failure = { name: hostile, attemptedValue: hostile, message: hostile }
  const body = { result: false, validationErrors: [failure], errors: [{ message: hostile, correlationId: hostile }] }
  server = await FaultServer.start(() => ({ type: 'answer', status: 400, body: JSON.stringify(body) }))
})
afterEach(() => server.close())

async function run(...written: string[]) {
  const variables = { SLUICE_URL: server.url, SLUICE_API_KEY: 'k', SLUICE_BUCKET: 'b', SLUICE_ACCESS_TOKEN: 't' }
  const ended = await startProgram('../../bin/sluice.js', { arguments: written, variables }).ended
  return { ...ended, lines: `${ended.stdout}\n${ended.stderr}`.split('\n') }
}

async function fileOf(text: string): Promise<string> {
  const path = join(folder, 'lines')
  writeFileSync(path, text)
  return path
}

async function spoolOfOne(): Promise<string> {
  const dir = spoolFolder()
  const { log, delivery, clock } = setUpSpool(dir)
  log('{"message":"left"}')
  const closed = delivery.close({ timeoutMs: 0 })
  await clock.advance(1)
  await closed
  return dir
}

const entry = '{"fields":{}}\n'
const commands: Readonly<Record<string, () => Promise<string[]>>> = {
  doctor: async () => ['doctor'],
  ship: async () => ['ship', await fileOf('line\n')],
  logs: async () => ['logs'],
  values: async () => ['values'],
  replay: async () => ['replay', await spoolOfOne()],
  migrate: async () => ['migrate', await fileOf(entry), '--project', 'p', '--type', 't'],
  'migrate --dry-run': async () => ['migrate', await fileOf(entry), '--project', 'p', '--type', 't', '--dry-run'],
}

describe.each(Object.entries(commands))('text of the service in sluice %s', (name, written) => {
  it('reaches the terminal without control characters, and begins no line of its own', async () => {
    const { code, lines } = await run(...(await written()))
    expect(code).toBe(1)
    expect(server.requests.length).toBeGreaterThan(0)
    expect(lines.filter((line) => unsafe.test(line) || line.startsWith('sluice: all'))).toEqual([])
    // The reason of a rejected line is in the file of rejects.
    if (name !== 'migrate') expect(lines.some((line) => line.includes('sluice: all is well'))).toBe(true)
  })

  it('is escaped by --json, and not changed', async () => {
    const { stdout, lines } = await run(...(await written()), '--json')
    expect(lines.filter((line) => unsafe.test(line))).toEqual([])
    const facts = JSON.stringify(JSON.parse(stdout))
    if (name !== 'migrate') expect(facts).toContain(JSON.stringify(hostile).slice(1, -1))
  })
})

describe('text of the command line', () => {
  it.runIf(full).each<[string, string[]]>([
    ['a command', [`x${hostile}`]],
    ['an option', ['ship', `--${hostile}`]],
    ['a file of ship', ['ship', `/not/there${hostile}`]],
    ['a folder of replay', ['replay', `/not/there${hostile}`]],
    ['a file of migrate', ['migrate', `/not/there${hostile}`, '--project', 'p', '--type', 't']],
  ])('comes back without control characters: %s', async (_, written) => {
    const { code, lines } = await run(...written)
    expect(code).toBeGreaterThan(0)
    expect(lines.filter((line) => unsafe.test(line))).toEqual([])
  })
})

describe('the commands', () => {
  it('write to the terminal in one place, which removes control characters', () => {
    const source = join(import.meta.dirname, '../../src/cli')
    const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
    const writers = files.filter((file) =>
      /process\.(stdout|stderr)\.write\((?!JSON\.stringify\(error \?)/.test(readFileSync(join(source, file), 'utf8')),
    )
    expect(writers).toEqual(['output.ts'])
  })

  it('print at most 2,000 characters of a line', () => {
    expect(oneLine('x'.repeat(10_000_000))).toBe(`${'x'.repeat(2000)}…`)
  })
})
