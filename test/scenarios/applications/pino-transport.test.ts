import { afterAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { full, rowsOf } from '../../support/full.js'
import { ampleTime, atOnceMs, startProgram } from '../../support/programs.js'
import { startTestReceiver, type TestReceiver } from '../../support/receiver.js'

const receivers: TestReceiver[] = []
let receiver: TestReceiver
beforeEach(async () => {
  receiver = await startTestReceiver()
  receivers.push(receiver)
})
afterAll(() => Promise.all(receivers.map((each) => each.close())))

async function logged(way: string, variables: Record<string, string> = {}) {
  const startedAt = performance.now()
  const settings = { ...receiver.variables, ...ampleTime, ...variables, WAY: way }
  const program = startProgram('pino-transport.js', { variables: settings })
  onTestFinished(() => void program.process.kill('SIGKILL'))
  const ended = await program.ended
  const records = await receiver.logs()
  return { ...ended, isInTime: performance.now() - startedAt < atOnceMs, records }
}

const numbered = (count: number) => Array.from({ length: count }, (_, number) => `line ${number}`).sort()

const withoutLogger = ['an object that writes', 'a PassThrough'] as const
const ends = [{}, { EXIT: '3' }] as { EXIT?: string }[]
const all = withoutLogger.flatMap((way) => ends.map((end) => ({ way, end })))

describe('a transport of pino that no logger was handed, so that pino sends it no configuration', () => {
  it.each(rowsOf(all, ({ way, end }) => (way === 'an object that writes') === (end.EXIT !== undefined)))(
    'delivers what is written by $way, $end',
    async ({ way, end }) => {
      const { code, stdout, stderr, isInTime, records } = await logged(way, end)
      expect({ code, stdout, stderr, isInTime }).toEqual({
        code: Number(end.EXIT ?? 0),
        stdout: '',
        stderr: '',
        isInTime: true,
      })
      expect(records.map(({ message }) => message).sort()).toEqual(numbered(20))
    },
  )

  it('lets the process end where nothing is written', async () => {
    expect(await logged('no logger')).toMatchObject({ code: 0, stdout: '', stderr: '', isInTime: true, records: [] })
  })
})

describe('a transport of pino that a logger was handed', () => {
  const ways = ['a logger', 'a logger that is made late', 'lines of another, then a logger']

  it.each(rowsOf(ways, (way) => way !== 'a logger'))('reads all lines as the logger writes them: %s', async (way) => {
    const { code, stderr, records } = await logged(way, { LINES: '500' })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(records.map(({ message }) => message).sort()).toEqual(numbered(500))
    expect(records.filter(({ level }) => level !== 'audit').length).toBe(way.startsWith('lines') ? 1 : 0)
  })

  it('emits an error for a level that the logger does not know', async () => {
    const TARGET_OPTIONS = JSON.stringify({ level: 'loud' })
    const { code, stdout, stderr, records } = await logged('a logger', { TARGET_OPTIONS })
    expect({ code, stderr, records }).toEqual({ code: 0, stderr: '', records: [] })
    expect(stdout).toMatch(/^option level .* got "loud"$/)
  })

  it('reports such a level once where the logger is made late, and lines of all levels are sent', async () => {
    const TARGET_OPTIONS = JSON.stringify({ level: 'loud' })
    const { code, stdout, stderr, records } = await logged('a logger that is made late', { TARGET_OPTIONS })
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(stderr).toMatch(
      /^sluice: option level \(SLUICE_LEVEL\): unknown level "loud"; lines of all levels are sent\n$/,
    )
    expect(records).toHaveLength(20)
  })

  it.runIf(full)('takes lines from a level of the logger on', async () => {
    const TARGET_OPTIONS = JSON.stringify({ level: 'audit' })
    const { stdout, records } = await logged('a logger', { TARGET_OPTIONS })
    expect(stdout).toBe('')
    expect(records).toHaveLength(20)
  })
})
