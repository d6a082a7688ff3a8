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

describe('a signal that the process raises on itself', () => {
  const raised = () => host.raised.splice(0)

  it('is raised again at the exit, where there was no turn in which it could be heard', () => {
    host.kill(host.pid, 'SIGINT')
    expect(raised()).toEqual(['SIGINT'])
    watch.exit(() => {})
    expect(raised()).toEqual(['SIGINT'])
    expect(listeners()).toBe(0)
    expect(drains).toEqual([])
  })

  it('may be named by its number, be the default, or be for its group', () => {
    for (const call of [[host.pid, 15], [host.pid], [0, 'SIGTERM'], [-host.pid, 'SIGTERM']] as [number, string][]) {
      host.kill(...call)
      raised()
      watch.exit(() => {})
      expect(raised()).toEqual(['SIGTERM'])
      watch.start()
    }
  })

  it('is forgotten once it is heard, or where the application listens, and is none of another process', async () => {
    host.kill(host.pid + 1, 'SIGTERM')
    host.kill(host.pid, 'SIGUSR1')
    const own = () => {}
    host.on('SIGTERM', own)
    host.kill(host.pid, 'SIGTERM')
    host.off('SIGTERM', own)
    raised()
    watch.exit(() => {})
    expect(raised()).toEqual([])

    host.kill(host.pid, 'SIGINT')
    host.emit('SIGINT')
    drains[0]!()
    await turn()
    raised()
    watch.exit(() => {})
    expect(raised()).toEqual([])
  })

  it('ends the process at the exit also where it was heard and the drain goes on', () => {
    host.emit('SIGTERM')
    watch.exit(() => {})
    expect(raised()).toEqual(['SIGTERM'])
  })
})

describe('a listener that another library hides', () => {
  it('is heard by Node as before when ours has gone', () => {
    const hidden = () => {}
    host.prependListener('SIGTERM', hidden)
    const { listenerCount } = host
    host.listenerCount = (event: string) => listenerCount.call(host, event) - (event === 'SIGTERM' ? 1 : 0)
    const heard: unknown[] = []
    host.on('removeListener', (event) => host.listenerCount(event) === 0 && heard.push(`${event} no more`))
    host.on('newListener', (event) => event === 'SIGTERM' && heard.push('SIGTERM'))
    watch.leave()
    expect(heard.filter((text) => String(text).startsWith('SIGTERM')).at(-1)).toBe('SIGTERM')
    expect(host.rawListeners('SIGTERM')).toEqual([hidden])
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
