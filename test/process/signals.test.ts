import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SignalWatch } from '../../src/process/signals.js'
import { FakeProcess } from '../support/fake-process.js'

let host: FakeProcess
let drains: (() => void)[]
/** True where the signal was certain to end the process. */
let ends: boolean[]
let watch: SignalWatch
beforeEach(() => {
  host = new FakeProcess()
  drains = []
  ends = []
  const drain = () => new Promise<void>((resolve) => drains.push(resolve))
  watch = new SignalWatch({ drain, end: (dies) => ends.push(dies) }, host.host)
  watch.start()
})
afterEach(() => watch.stop())

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

  it('has the signals for itself again after stop()', () => {
    watch.stop()
    expect(host.listenerCount('SIGTERM') + host.listenerCount('SIGINT') + host.listenerCount('newListener')).toBe(0)
  })
})

it('a watch that is stopped while it drains raises no signal', async () => {
  host.emit('SIGTERM')
  watch.stop()
  drains[0]!()
  await turn()
  expect(host.raised).toEqual([])
})
