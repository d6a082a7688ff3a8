import { once } from 'node:events'
import type { Socket } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { killAll, readyBy } from './processes.js'
import { connected } from './sockets.js'
import { caller, log } from './support.js'

afterEach(killAll)

describe('a receiver whose lines cannot be written', () => {
  it('goes on where the disk is full, and counts them', async () => {
    const args = ['--data', ':memory:', '--access-log', '--host', '0.0.0.0']
    const { child, exit, ...receiver } = await readyBy('exec "$@" 2>/dev/full', ...args)
    const call = caller(receiver)
    for (let number = 0; number < 3; number++) expect((await call('POST', '/logs/demo', log)).status).toBe(201)
    const { body } = await call('GET', '/metrics')
    expect(Number(/^sluice_receiver_failed_writes_total (\d+)$/m.exec(body)?.[1])).toBeGreaterThanOrEqual(2)
    child.kill('SIGTERM')
    expect(await exit).toEqual([0, null])
  })

  it('goes on where nobody reads them', async () => {
    const { child, exit, ...receiver } = await readyBy('ulimit -n 200; exec "$@"', '--data', ':memory:')
    child.stderr.destroy()
    const sockets: Socket[] = []
    for (let number = 0; number < 50; number++) sockets.push(await connected(receiver.url))
    // One more is refused, and the receiver says so.
    await once((await connected(receiver.url)).resume(), 'close')
    sockets.pop()!.destroy()
    await vi.waitFor(async () => expect((await caller(receiver)('POST', '/logs/demo', log)).status).toBe(201))
    child.kill('SIGTERM')
    expect(await exit).toEqual([0, null])
    for (const socket of sockets) socket.destroy()
  })
})
