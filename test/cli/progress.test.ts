import { describe, expect, it } from 'vitest'
import { Progress } from '../../src/cli/progress.js'
import { VirtualClock } from '../support/virtual-clock.js'

function setUp({ isTTY, columns }: { isTTY: boolean; columns?: number }) {
  const clock = new VirtualClock()
  const written: string[] = []
  const screen = { isTTY, columns, write: (text: string) => written.push(text) }
  const progress = new Progress({ screen, clock, totalBytes: 100_000 })
  const advance = (lines: number, skipped = false) => {
    for (let line = 0; line < lines; line++) progress.advance(100, skipped)
  }
  return { clock, written, progress, advance }
}

describe('progress', () => {
  it('is a line every five seconds without a terminal', async () => {
    const { clock, written, progress, advance } = setUp({ isTTY: false })
    advance(250)
    await clock.advance(4999)
    expect(written).toEqual([])
    await clock.advance(1)
    expect(written).toEqual(['25 %, 250 lines, 50 lines/s, 0:15 left\n'])
    advance(50)
    await clock.advance(5000)
    expect(written.slice(1)).toEqual(['30 %, 300 lines, 30 lines/s, 0:24 left\n'])
    progress.end()
    await clock.advance(60_000)
    expect(written).toHaveLength(2)
    expect(clock.timers).toBe(0)
  })

  it('is a bar on a terminal, redrawn in its place, as wide as the terminal allows', async () => {
    const { clock, written, progress, advance } = setUp({ isTTY: true, columns: 72 })
    advance(500)
    await clock.advance(200)
    expect(written).toEqual(['\r[##########----------] 50 %, 500 lines, 2500 lines/s, 0:01 left\x1b[K'])
    progress.end()
    progress.end()
    expect(written.slice(1)).toEqual(['\r\x1b[K'])
    const unknown = setUp({ isTTY: true, columns: 0 })
    await unknown.clock.advance(200)
    expect(unknown.written[0]).toMatch(/^\r\[-{28}\] 0 %/)
    const narrow = setUp({ isTTY: true, columns: 40 })
    await narrow.clock.advance(200)
    expect(narrow.written).toEqual(['\r0 %, 0 lines, 0 lines/s\x1b[K'])
  })

  it('of a file that has grown stays at 100 %', async () => {
    const { clock, written, advance } = setUp({ isTTY: false })
    advance(1200)
    await clock.advance(5000)
    expect(written).toEqual(['100 %, 1200 lines, 240 lines/s, 0:00 left\n'])
  })

  it('makes room for messages', async () => {
    const { clock, written, progress } = setUp({ isTTY: true })
    await clock.advance(200)
    written.length = 0
    progress.say('line 7: has something')
    expect(written[0]).toBe('\r\x1b[Kline 7: has something\n')
    expect(written[1]).toMatch(/^\r\[/)
  })

  it('computes the rate from recent lines, without lines of earlier runs and of long ago', async () => {
    const { clock, written, advance } = setUp({ isTTY: false })
    advance(500, true)
    advance(100)
    await clock.advance(5000)
    expect(written.at(-1)).toBe('60 %, 600 lines, 20 lines/s, 0:20 left\n')
    for (let second = 0; second < 20; second += 5) {
      advance(5)
      await clock.advance(5000)
    }
    expect(written.at(-1)).toBe('62 %, 620 lines, 1 lines/s, 6:20 left\n')
  })
})
