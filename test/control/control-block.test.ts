import { once } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { buildSync } from 'esbuild'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Ask, ControlBlock } from '../../src/control/control-block.js'
import { processNow } from '../../src/runtime/shared-state.js'
import { calledBells } from '../support/bells.js'
import { runs } from '../support/full.js'
import { settle, VirtualClock } from '../support/virtual-clock.js'

const soon = () => ({ mode: 'flush' as const, until: processNow() + 60_000, brief: false })
const giveUpAt = () => processNow() + 20_000

const bundle = buildSync({
  stdin: {
    contents: `export * from './control-block.js'`,
    resolveDir: fileURLToPath(new URL('../../src/control', import.meta.url)),
  },
  bundle: true,
  platform: 'node',
  format: 'iife',
  globalName: 'control',
  write: false,
}).outputFiles[0]!.text

/** Another thread that runs this code with a view of the block. */
function threadWith(memory: SharedArrayBuffer, code: string): Worker {
  const source = `${bundle}
    const { parentPort, workerData } = require('node:worker_threads')
    const block = control.ControlBlock.open(workerData)
    ${code}`
  return new Worker(source, { eval: true, workerData: memory })
}

/** Answers each ask in the turn after it, and posts what was asked. */
const answering = `
  block.whenAsked((ask) => setImmediate(() => { block.answer(ask.number); parentPort.postMessage(ask) }))
  parentPort.postMessage('ready')
  setInterval(() => {}, 1000)`

describe('a control block', () => {
  it('of another version is not opened', () => {
    const memory = ControlBlock.memory(0)
    expect(ControlBlock.open(memory)).toBeDefined()
    new Int32Array(memory)[0] = 2
    expect(ControlBlock.open(memory)).toBe(undefined)
    expect(ControlBlock.open(new SharedArrayBuffer(16))).toBe(undefined)
  })

  it('tells the end of the process to the thread of the engine', async () => {
    const memory = ControlBlock.memory(0)
    const block = ControlBlock.open(memory)!
    const told = `
      block.whenAsked(({ number }) => parentPort.postMessage([block.endBeganAt, block.leaveToMain()]))
      parentPort.postMessage([block.endBeganAt])
      setInterval(() => {}, 1000)`
    const thread = threadWith(memory, told)
    expect(await once(thread, 'message')).toEqual([[undefined]])
    block.endBegan(12.5)
    block.tellByMain()
    block.ask(soon())
    expect(await once(thread, 'message')).toEqual([[12.5, true]])
    await thread.terminate()
  })

  it('has one teller of the losses at the end: the main thread, or its own where that came first', () => {
    const [block, late] = [ControlBlock.open(ControlBlock.memory(0))!, ControlBlock.open(ControlBlock.memory(0))!]
    block.tellByMain()
    expect([block.leaveToMain(), block.isToldByItself]).toEqual([true, false])
    expect([late.isToldByItself, late.leaveToMain(), late.isToldByItself]).toEqual([false, false, true])
    late.tellByMain()
    expect([late.leaveToMain(), late.isToldByItself]).toEqual([false, true])
  })

  it('carries a drain to another thread, and its answer back', async () => {
    const memory = ControlBlock.memory(0)
    const block = ControlBlock.open(memory)!
    const thread = threadWith(memory, answering)
    await once(thread, 'message')
    const until = processNow() + 1234.5
    const number = block.ask({ mode: 'park', until, brief: true, after: 2 ** 40 + 1 })
    const asked = once(thread, 'message')
    await block.whenAnswered(number, giveUpAt())
    expect(block.isAnswered(number)).toBe(true)
    expect(await asked).toEqual([{ number, mode: 'park', until, brief: true, after: 2 ** 40 + 1 }])
    await thread.terminate()
  })

  it('asks for no records where a drain names none, also in the place of one that did', () => {
    const block = ControlBlock.open(ControlBlock.memory(0))!
    const asked: Ask[] = []
    const numbers = Array.from({ length: 17 }, (_, drain) => {
      const number = block.ask(drain === 0 ? { ...soon(), after: 5 } : soon())
      block.whenAsked((ask) => asked.push(ask))()
      block.answer(number)
      return number
    })
    expect(asked.map(({ number, after }) => [number, after])).toEqual(
      numbers.map((number, drain) => [number, drain === 0 ? 5 : 0]),
    )
  })

  it('brings the answer to a thread that is held', async () => {
    const memory = ControlBlock.memory(0)
    const block = ControlBlock.open(memory)!
    const thread = threadWith(memory, answering)
    await once(thread, 'message')
    const number = block.ask(soon())
    const until = giveUpAt()
    while (!block.waitAnswered(number, 100)) expect(processNow()).toBeLessThan(until)
    await thread.terminate()
  })

  it('holds no thread that listens', async () => {
    const thread = threadWith(ControlBlock.memory(0), 'block.whenAsked(() => {})')
    await once(thread, 'exit')
  })

  it('answers each of many drains from two threads once, in any order', async () => {
    const plan = fc.array(fc.record({ answers: fc.nat(20), asks: fc.nat(3) }), { maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(plan, async (rounds) => {
        const memory = ControlBlock.memory(0)
        const [engine, ...askers] = [1, 2, 3].map(() => ControlBlock.open(memory)!)
        const open: Ask[] = []
        const seen: number[] = []
        const stop = engine!.whenAsked((ask) => {
          open.push(ask)
          seen.push(ask.number)
        })
        const answered: Promise<void>[] = []
        const numbers: number[] = []
        const answerSome = (count: number) => {
          for (let left = count; left > 0 && open.length > 0; left--) {
            const [{ number }] = open.splice((left * 7) % open.length, 1) as [Ask]
            engine!.answer(number)
          }
        }
        for (const { asks, answers } of rounds) {
          for (let each = 0; each < asks; each++) {
            const block = askers[each % 2]!
            const number = block.ask(soon())
            numbers.push(number)
            answered.push(block.whenAnswered(number, giveUpAt()))
          }
          await turn()
          answerSome(Math.max(answers, open.length - 12))
        }
        await turn()
        answerSome(open.length)
        await Promise.all(answered)
        stop()
        expect(seen).toEqual(numbers)
      }),
      { numRuns: runs({ some: 30, all: 1000 }) },
    )
  })

  it('asks the engine that follows for what none has answered', async () => {
    const memory = ControlBlock.memory(0)
    const block = ControlBlock.open(memory)!
    const first: number[] = []
    const stop = block.whenAsked(({ number }) => {
      first.push(number)
      if (number === 1) block.answer(number)
    })
    const numbers = [block.ask(soon()), block.ask(soon())]
    await block.whenAnswered(1, giveUpAt())
    stop()
    const second: number[] = []
    ControlBlock.open(memory)!.whenAsked(({ number }) => second.push(number))
    expect([first, second]).toEqual([numbers, [2]])
  })

  it('lets an asker go at its own deadline, where too many other drains are open', async () => {
    const block = ControlBlock.open(ControlBlock.memory(0))!
    const numbers = Array.from({ length: 17 }, () => block.ask(soon()))
    const late = block.whenAnswered(numbers[0]!, processNow() + 20)
    block.answer(numbers[0]!)
    await late
    expect(block.isAnswered(numbers[0]!)).toBe(false)
  })

  it('lets all askers go when the engine is gone: those that wait, and those that ask later', async () => {
    const memory = ControlBlock.memory(0)
    const block = ControlBlock.open(memory)!
    const numbers = [block.ask(soon()), block.ask(soon())]
    const all = Promise.all(numbers.map((number) => block.whenAnswered(number, giveUpAt())))
    ControlBlock.open(memory)!.retire()
    await all
    const later = block.ask(soon())
    expect([...numbers, later].map((number) => block.isAnswered(number))).toEqual([true, true, true])
    expect(block.waitAnswered(later, 0)).toBe(true)
  })
})

describe('a control block with the surroundings that it is given', () => {
  function setUp() {
    const clock = new VirtualClock()
    const waits: (() => void)[] = []
    const bell = calledBells(() => waits.shift()?.())
    const memory = ControlBlock.memory()
    const ports = { clock, processNow: () => 5000 + clock.now(), bell }
    return { clock, waits, asker: new ControlBlock(memory, ports), engine: new ControlBlock(memory, ports) }
  }
  const drain = { mode: 'flush', until: 6000, brief: false } as const

  it('calls the engine, and the asker, by its bells', async () => {
    const { clock, asker, engine } = setUp()
    const asked: number[] = []
    engine.whenAsked(({ number }) => asked.push(number))
    const number = asker.ask(drain)
    expect(asked).toEqual([number])
    let isAnswered = false
    void asker.whenAnswered(number, 6000).then(() => {
      isAnswered = true
    })
    await settle()
    expect(isAnswered).toBe(false)
    engine.answer(number)
    await settle()
    expect({ isAnswered, timers: clock.timers }).toEqual({ isAnswered: true, timers: 0 })
  })

  it('holds the thread of an asker by its bells', () => {
    const { asker, engine, waits } = setUp()
    const number = asker.ask(drain)
    expect(asker.waitAnswered(number, 100)).toBe(false)
    waits.push(() => engine.answer(number))
    expect(asker.waitAnswered(number, 100)).toBe(true)
  })

  it.each([true, false])('lets an asker go by its clocks, and holds the process until then: %s', async (holds) => {
    const { clock, asker } = setUp()
    clock.block(400)
    let isOver = false
    void asker.whenAnswered(asker.ask(drain), 6000, holds).then(() => {
      isOver = true
    })
    expect(clock.holding).toBe(holds ? 1 : 0)
    await clock.advance(599)
    expect(isOver).toBe(false)
    await clock.advance(1)
    expect({ isOver, timers: clock.timers }).toEqual({ isOver: true, timers: 0 })
  })
})
