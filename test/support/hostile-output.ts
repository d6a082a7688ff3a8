import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FaultServer } from './fault-server.js'
import { startProgram } from './programs.js'

/** Colours, a link, a title, a bell, a carriage return, C1 controls, line ends, a change of the writing direction. */
const hostile =
  '\u001b[2J\u001b]8;;http://evil\u0007\u001b]0;t\u0007\rsluice: all is well\n\u009b31m\u0085\u2028\u202e\u200f\u061cx\u007f\b'
const unsafe = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/u

export interface ProgramUnderTest {
  /** The path of the program. */
  readonly program: string
  /** Its command lines by command: the service refuses what they ask. */
  readonly commands: Readonly<Record<string, () => Promise<string[]>>>
  /** Commands that put the text of the service into a file, and not on the terminal. */
  readonly silent?: readonly string[]
  /** Command lines that are wrong, with a hostile text in the place of `X`. */
  readonly wrong: readonly (readonly string[])[]
  /** The folder of its source. */
  readonly source: string
  /** The files of the source that write to the terminal. */
  readonly writers: readonly string[]
}

/** Tests that no text from elsewhere steers the terminal of a program. */
export function testHostileOutput({ program, commands, silent = [], wrong, source, writers }: ProgramUnderTest): void {
  let server: FaultServer
  beforeEach(async () => {
    const failure = { name: hostile, attemptedValue: hostile, message: hostile }
    const body = { result: false, validationErrors: [failure], errors: [{ message: hostile, correlationId: hostile }] }
    server = await FaultServer.start(() => ({ type: 'answer', status: 400, body: JSON.stringify(body) }))
  })
  afterEach(() => server.close())

  async function run(...written: string[]) {
    const variables = { SLUICE_URL: server.url, SLUICE_API_KEY: 'k', SLUICE_BUCKET: 'b', SLUICE_ACCESS_TOKEN: 't' }
    const ended = await startProgram(program, { arguments: written, variables }).ended
    return { ...ended, lines: `${ended.stdout}\n${ended.stderr}`.split('\n') }
  }

  describe.each(Object.entries(commands))('text of the service in %s', (name, written) => {
    it('reaches the terminal without control characters, and begins no line of its own', async () => {
      const { code, lines } = await run(...(await written()))
      expect(code).toBe(1)
      expect(server.requests.length).toBeGreaterThan(0)
      expect(lines.filter((line) => unsafe.test(line) || line.startsWith('sluice: all'))).toEqual([])
      if (!silent.includes(name)) expect(lines.some((line) => line.includes('sluice: all is well'))).toBe(true)
    })

    it('is escaped by --json, and not changed', async () => {
      const { stdout, lines } = await run(...(await written()), '--json')
      expect(lines.filter((line) => unsafe.test(line))).toEqual([])
      const facts = JSON.stringify(JSON.parse(stdout))
      if (!silent.includes(name)) expect(facts).toContain(JSON.stringify(hostile).slice(1, -1))
    })
  })

  it.each(wrong)('text of the command line comes back without control characters: %s %s', async (...written) => {
    const { code, lines } = await run(...written.map((word) => word.replace('X', hostile)))
    expect(code).toBeGreaterThan(0)
    expect(lines.filter((line) => unsafe.test(line))).toEqual([])
  })

  it('the commands write to the terminal in one place, which removes control characters', () => {
    const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
    const writing = /process\.(stdout|stderr)\.write\((?!JSON\.stringify\(error \?)/
    expect(files.filter((file) => writing.test(readFileSync(join(source, file), 'utf8')))).toEqual(writers)
  })
}
