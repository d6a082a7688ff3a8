import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { full } from '../../../../test/support/full.js'
import { startTestReceiver } from '../../../../test/support/receiver.js'
import { folderHere } from '../support/shipping.js'

/** Ctrl-C, as a terminal sends it. */
const ctrlC = '\x03'

/** `sluice-tools ship` in a pseudo terminal of its own. */
function shipOnTerminal(written: readonly string[], variables: Record<string, string>) {
  const words = [process.execPath, resolve(import.meta.dirname, '../../bin/sluice-tools.js'), 'ship', ...written]
  const env = { PATH: process.env.PATH, TERM: 'xterm', ...variables }
  const child = spawn('script', ['-qec', `exec ${words.join(' ')}`, '/dev/null'], {
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let shown = ''
  const screen = async (expected: RegExp) => {
    while (!expected.test(shown)) await new Promise((resolve) => child.stdout.once('data', resolve))
    return shown
  }
  child.stdout.on('data', (piece) => {
    shown += piece
  })
  const ended = new Promise<{ code: number | null; shown: string }>((done) =>
    child.once('close', (code) => done({ code, shown })),
  )
  return { type: (text: string) => child.stdin.write(text), screen, ended }
}

describe('sluice-tools ship on a terminal', () => {
  it('that follows a file rewrites one line with its progress and how to end it', async () => {
    const receiver = await startTestReceiver()
    onTestFinished(() => receiver.close())
    const file = join(folderHere(), 'app.log')
    writeFileSync(file, 'one\ntwo\n')
    const { type, screen, ended } = shipOnTerminal(['--follow', file], receiver.variables)
    await screen(/\r2 lines, \d+ lines\/s, 0 under way; Ctrl-C ends it/)
    writeFileSync(file, 'one\ntwo\nthree\n')
    await screen(/\r3 lines, \d+ lines\/s, 0 under way; Ctrl-C ends it/)
    type(ctrlC)
    const { code, shown } = await ended
    expect({ code, shown }).toEqual({ code: 0, shown: expect.stringContaining('3 of 3 records delivered') })
    expect((await receiver.logs()).map(({ message }) => message)).toEqual(['one', 'two', 'three'])
  })

  it.runIf(full)('that reads what is typed says so, and how to end it', async () => {
    const receiver = await startTestReceiver()
    onTestFinished(() => receiver.close())
    const { type, screen, ended } = shipOnTerminal([], receiver.variables)
    await screen(/reads what you type; Ctrl-D or Ctrl-C ends it/)
    type('typed\r')
    type('\x04')
    expect(await ended).toEqual({ code: 0, shown: expect.stringContaining('1 of 1 record delivered') })
    expect((await receiver.logs()).map(({ message }) => message)).toEqual(['typed'])
  })
})
