import { createServer } from 'node:http'
import type { Machine } from '../../src/engine/machine.js'
import type { SluiceOptions } from '../../src/options/options.js'
import { nodeFiles } from '../../src/runtime/files.js'
import { machineOwners } from '../../src/spool/owner.js'
import type { Fault } from './faults.js'
import { SimulatedNetwork } from './network/simulated-network.js'
import type { SimulatedProcess } from './process/simulated-process.js'
import { simulatedSender } from './process/simulated-sender.js'
import type { Schedule } from './schedule.js'
import type { SimulatedThread } from './simulated-thread.js'
import type { World } from './world.js'

export class Site {
  readonly options: SluiceOptions
  readonly #world: World
  readonly network: SimulatedNetwork
  readonly stored = new Map<number, number>()
  successes = 0

  constructor(world: World, schedule: Schedule, reached: (name: string) => void) {
    this.#world = world
    this.network = new SimulatedNetwork(world, { reached })
    const { spoolDir: _, ...options } = schedule.options
    this.options = { ...options, url: 'http://service.test', allowInsecure: true, apiKey: 'k', bucket: 'b' }
    const server = createServer(
      { requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 0, connectionsCheckingInterval: 1e9 },
      (request, response) => {
        let body = ''
        request.on('data', (part) => {
          body += part
        })
        request.on('end', () => {
          const id = /r#(\d+)/.exec(body)?.[1] ?? /eventId":1(\d+)/.exec(body)?.[1]
          if (id !== undefined) this.stored.set(Number(id), (this.stored.get(Number(id)) ?? 0) + 1)
          this.successes++
          response.writeHead(201, {
            'content-type': 'application/json',
            'idempotency-key': request.headers['idempotency-key'] ?? '',
          })
          response.end('{"result":true}')
        })
      },
    )
    this.network.listen('service.test:80', (socket) => void server.emit('connection', socket))
  }

  machineOf(thread: SimulatedThread, process: SimulatedProcess): Machine {
    const open = this.network.connector(thread, { connectTimeoutMs: 10_000 })
    return {
      clock: thread.clock,
      random: this.#world.random(`${thread.name}/random`),
      files: nodeFiles,
      owners: machineOwners,
      connection: { open },
      startSender: ({ url, userAgent, maxConnections, requestTimeoutMs, apiKey }) => {
        const own = process.thread('last drain')
        const machine = this.machineOf(own, process)
        thread.block(50)
        return simulatedSender(own, {
          url,
          userAgent,
          maxConnections,
          requestTimeoutMs,
          clock: own.clock,
          apiKey: { reveal: () => apiKey, renew: () => false },
          ...(machine.connection && { connection: machine.connection }),
        })
      },
    }
  }
  waitsForDisk(_: SimulatedThread): boolean {
    return false
  }
  unsaved = new Set<number>()
  willBeKilled(p: SimulatedProcess): void {
    for (const id of p.accepted.keys()) this.unsaved.add(id)
  }
  killInWrite(_p: SimulatedProcess, _o: object): void {}
  losePower(a: readonly SimulatedProcess[], kill: () => void): void {
    for (const p of a) this.willBeKilled(p)
    kill()
  }
  apply(_faults: readonly Fault[]): void {}
  heal(): void {}
  get hasSegments(): boolean {
    return false
  }
  get segments(): string[] {
    return []
  }
  get evidence() {
    return { stored: this.stored, successes: this.successes, unsaved: this.unsaved, proxied: 0 }
  }
  async close(): Promise<void> {
    this.network.close()
  }
}
