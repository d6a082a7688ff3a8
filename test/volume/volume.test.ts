import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { idOf } from '../../src/records/line-ids.js'
import { Volume } from '../../src/volume/volume.js'
import { rowsOf } from '../support/full.js'
import { VirtualClock } from '../support/virtual-clock.js'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void
const mebibyte = 2 ** 20

function usedMebibytes(): number {
  collectGarbage()
  // Array buffers of the first collection are freed beside it, and by the second at the latest.
  collectGarbage()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return (heapUsed + arrayBuffers) / mebibyte
}

describe('the memory of lines that are kept for an error', () => {
  const kinds: [string, number, (at: number) => { id: string; text: string; body: string }][] = [
    [
      'each with an id of its own',
      20_000,
      (at: number) => ({ id: `request ${at}`, text: 'hello', body: `"hello ${at}"` }),
    ],
    ['with long messages', 200, (at: number) => ({ id: 'a', text: `${at}${'y'.repeat(mebibyte)}`, body: `"${at}"` })],
    ['with long ids', 200, (at: number) => ({ id: `${at}${'y'.repeat(mebibyte)}`, text: 'hello', body: `"${at}"` })],
    [
      'with bodies that are not ASCII',
      500,
      (at: number) => ({ id: 'a', text: 'hello', body: `${'y'.repeat(30_000)}…${at}` }),
    ],
  ]

  it.each(rowsOf(kinds, ([kind]) => kind === 'with long messages'))('is bounded for lines %s', (_, lines, lineAt) => {
    let kept = 0
    const control = new Volume({
      options: {
        repeat: undefined,
        keepForError: { lines: 100_000, windowMs: 60_000 },
        maxQueueBytes: 16 * mebibyte,
        maxMessageBytes: 32_768,
        timestampUnit: 'ms',
      },
      clock: new VirtualClock(),
      ship: () => {},
      suppress: () => {},
      kept: (change) => {
        kept += change
      },
      release: () => {},
      say: () => {},
    })
    const before = usedMebibytes()
    for (let at = 0; at < lines; at++) {
      const { id, text, body } = lineAt(at)
      const facts = { level: 'debug', text: text.slice(0, 1000), id: idOf({ id, requestId: id })! }
      control.take({ severity: 1, body: Buffer.from(body).toString(), redacted: false, facts, below: true })
    }
    expect(kept).toBeGreaterThan(50)
    expect(usedMebibytes() - before).toBeLessThan(5.5)
    control.end()
    expect(kept).toBe(0)
  })
})
