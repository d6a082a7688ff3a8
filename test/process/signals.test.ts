import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SignalWatch } from '../../src/process/signals.js'
import { FakeProcess } from '../support/fake-process.js'

let host: FakeProcess
let drains: (() => void)[]
/** True where the signal was certain to end the process. */
let ends: boolean[]
let needed: boolean
let watch: SignalWatch
beforeEach(() => {
  host = new FakeProcess()
  drains = []
  ends = []
  needed = true
  const drain = () => new Promise<void>((resolve) => drains.push(resolve))
  watch = new SignalWatch({
    drain,
    end: (dies) => ends.push(dies),
    survived: () => {},
    needed: () => needed,
    host: host.host,
  })
  watch.start()
})
afterEach(() => watch.leave())

const listeners = () => host.listenerCount('SIGTERM') + host.listenerCount('SIGINT') + host.listenerCount('newListener')

describe('a signal that only Sluice listens to', () => {
  it('is raised again once the drain is over, without a listener that keeps the process alive', async () => {
    host.emit('SIGTERM')
    expect(drains).toHaveLength(1)
    expect(host.raised).toEqual([])
    drains[0]!()
    await turn()
    expect(host.raised).toEqual(['SIGTERM'])
    expect(host.listenerCount('SIGTERM')).toBe(0)
  })

  it('ends the process at once when it comes a second time, and the end of the drain raises it no more', async () => {
    host.emit('SIGINT')
    host.emit('SIGTERM')
    expect(host.raised).toEqual(['SIGTERM'])
    drains[0]!()
    await turn()
    expect(host.raised).toEqual(['SIGTERM'])
  })
})

describe('an application that listens itself', () => {
  it('decides alone', () => {
    host.on('SIGTERM', () => {})
    host.emit('SIGTERM')
    expect(drains).toEqual([])
    expect(host.raised).toEqual([])
    expect(watch.hasSeenSignal).toBe(true)
  })

  it('is seen, though its listener was added with prependOnceListener and is gone when it was called', async () => {
    host.prependOnceListener('SIGTERM', () => {})
    await turn()
    host.emit('SIGTERM')
    expect(drains).toEqual([])
  })

  it('has the signals for itself again after leave(), for ever', () => {
    watch.leave()
    watch.start()
    expect(listeners()).toBe(0)
  })

  it('has the first place after three rounds, if it keeps it by the same means', async () => {
    let rounds = 0
    const rival = () => {}
    host.on('newListener', (event, added) => {
      if (event !== 'SIGTERM' || added === rival || ++rounds > 100) return
      process.nextTick(() => {
        host.off('SIGTERM', rival)
        host.prependListener('SIGTERM', rival)
      })
    })
    host.prependListener('SIGTERM', rival)
    await turn()
    expect(rounds).toBeLessThan(5)
    expect(host.listeners('SIGTERM')[0]).toBe(rival)
  })
})

describe('a watch that is not needed', () => {
  it('listens to nothing until it is started again', async () => {
    needed = false
    await watch.rest()
    expect(listeners()).toBe(0)
    watch.start()
    host.emit('SIGTERM')
    expect(drains).toHaveLength(1)
  })

  it('hears the signals that have come before it rests', async () => {
    needed = false
    const rested = watch.rest()
    host.emit('SIGTERM')
    await rested
    drains[0]!()
    await turn()
    expect(host.raised).toEqual(['SIGTERM'])
  })

  it('goes on while callbacks run for long: a signal that comes meanwhile is heard in the next turn', async () => {
    needed = false
    let busy = true
    const work = () => {
      const until = performance.now() + 3
      while (performance.now() < until);
      if (busy) setImmediate(work)
    }
    setImmediate(work)
    await watch.rest()
    busy = false
    expect(listeners()).toBeGreaterThan(0)
  })

  it('rests not while it is needed', async () => {
    await watch.rest()
    expect(listeners()).toBeGreaterThan(0)
  })
})

it('a watch that is left while it drains raises the signal at once, which nothing else has heard, and only once', async () => {
  host.emit('SIGTERM')
  watch.leave()
  expect(host.raised).toEqual(['SIGTERM'])
  drains[0]!()
  await turn()
  expect(host.raised).toEqual(['SIGTERM'])
})
