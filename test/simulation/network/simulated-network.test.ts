import type { Socket } from 'node:net'
import { beforeEach, describe, expect, it } from 'vitest'
import type { SimulatedThread } from '../simulated-thread.js'
import { World } from '../world.js'
import { type Conditions, fineConditions } from './conditions.js'
import { SimulatedNetwork } from './simulated-network.js'
import type { SimulatedSocket } from './simulated-socket.js'

const connectTimeoutMs = 1000
const authority = 'service.test:80'
/** One way takes 5 ms, always. */
const plain: Conditions = { ...fineConditions, latencyMs: [5, 5] }

let world: World
let network: SimulatedNetwork
let client: SimulatedThread
let server: SimulatedThread
/** The server's side of each connection. */
let accepted: Line[]

/** One side of a connection, and all that it has heard, with the time. */
class Line {
  readonly socket: Socket
  readonly heard: string[] = []
  readonly times: number[] = []
  text = ''

  constructor(socket: Socket) {
    this.socket = socket
    const hear = (word: string) => void this.heard.push(word)
    socket.on('data', (bytes: Buffer) => {
      this.text += bytes.toString()
      // Code takes a few microseconds.
      this.times.push(Math.round(world.now * 10) / 10)
      hear('data')
    })
    socket.on('end', () => hear('end'))
    socket.on('error', (error: NodeJS.ErrnoException) => hear(`${error.code}`))
    socket.on('close', () => hear('close'))
  }
}

beforeEach(() => {
  world = new World(7)
  network = new SimulatedNetwork(world)
  network.conditions = plain
  client = world.thread('client')
  server = world.thread('server')
  accepted = []
  network.listen(authority, (socket) => void accepted.push(new Line(socket as unknown as Socket)), server)
})

/** Open a connection. Gives the line, or the error. */
async function open(host = 'service.test'): Promise<Line> {
  let line: Line | undefined
  let failure: Error | undefined
  const target = { hostname: host, host, protocol: 'http:', port: '' }
  network.connector(client, { connectTimeoutMs })(target, (error, socket) => {
    if (socket === null) failure = error
    else line = new Line(socket)
  })
  await world.run(30_000, () => line !== undefined || failure !== undefined)
  if (line === undefined) throw failure
  return line
}

const pattern = (bytes: number) => Array.from({ length: bytes }, (_, index) => index % 10).join('')

describe('A simulated connection', () => {
  it('is made after a round trip, and takes the latency in both directions', async () => {
    const line = await open()
    expect(world.now).toBe(10)
    line.socket.write('hello')
    await world.run(100)
    accepted[0]!.socket.write('yes')
    await world.run(100)
    expect([accepted[0]!.text, accepted[0]!.times]).toEqual(['hello', [15]])
    expect([line.text, line.times]).toEqual(['yes', [115]])
  })

  it('keeps the order of its bytes under jitter, and connections overtake each other', async () => {
    network.conditions = { ...plain, jitterMs: 100 }
    const lines = [await open(), await open()]
    const order: number[] = []
    for (const [index, line] of accepted.entries()) line.socket.on('data', () => order.push(index))
    for (let round = 0; round < 20; round++) {
      for (const line of lines) line.socket.write(`${round},`)
      await world.run(10)
    }
    await world.run(1000)
    const all = Array.from({ length: 20 }, (_, round) => `${round},`).join('')
    expect(accepted.map(({ text }) => text)).toEqual([all, all])
    expect(order.join('')).not.toMatch(/^(01)+$/)
  })

  it('carries so many bytes in a time, in segments', async () => {
    network.conditions = { ...plain, bytesPerMs: 100, segmentBytes: 250 }
    const line = await open()
    line.socket.write(pattern(1000))
    await world.run(1000)
    expect(accepted[0]!.text).toBe(pattern(1000))
    expect(accepted[0]!.times).toEqual([17.5, 20, 22.5, 25])
  })

  it('carries single bytes', async () => {
    network.conditions = { ...plain, segmentBytes: 1 }
    const line = await open()
    line.socket.write('abcde')
    await world.run(1000)
    expect([accepted[0]!.text, accepted[0]!.times.length]).toEqual(['abcde', 5])
  })

  it('makes its writer wait while the reader reads nothing', async () => {
    network.conditions = { ...plain, bufferBytes: 1000 }
    const line = await open()
    await world.run(10)
    accepted[0]!.socket.pause()
    let taken = 0
    for (let count = 0; count < 200; count++) line.socket.write(pattern(1000), () => taken++)
    await world.run(1000)
    expect(line.socket.writableNeedDrain).toBe(true)
    expect(taken).toBeLessThan(100)
    accepted[0]!.socket.resume()
    let drained = false
    line.socket.once('drain', () => {
      drained = true
    })
    await world.run(10_000)
    expect([taken, drained, accepted[0]!.text.length]).toEqual([200, true, 200_000])
  })

  it('ends on one side, and is closed when the other has ended, too', async () => {
    const line = await open()
    line.socket.end('bye')
    await world.run(100)
    expect(accepted[0]!.heard).toEqual(['data', 'end'])
    expect(line.heard).toEqual([])
    accepted[0]!.socket.end('ok')
    await world.run(100)
    expect(line.heard).toEqual(['data', 'end', 'close'])
    expect(accepted[0]!.heard).toEqual(['data', 'end', 'close'])
    expect(network.socketsOf(client)).toEqual([])
  })

  it('is reset by a side that closes it with bytes that it has not read', async () => {
    const line = await open()
    await world.run(10)
    accepted[0]!.socket.pause()
    for (let count = 0; count < 5; count++) line.socket.write(pattern(65_536))
    await world.run(100)
    accepted[0]!.socket.destroy()
    await world.run(100)
    expect(line.heard).toEqual(['ECONNRESET', 'close'])
  })

  it('is reset when bytes come to a side that has closed it', async () => {
    const line = await open()
    await world.run(10)
    accepted[0]!.socket.destroy()
    line.socket.write('too late')
    await world.run(100)
    expect(line.heard.at(-1)).toBe('close')
    expect(accepted[0]!.text).toBe('')
    expect(network.socketsOf(client)).toEqual([])
  })

  it('has a time-out, as a socket of Node has', async () => {
    const line = await open()
    const times: number[] = []
    line.socket.setTimeout(1000, () => times.push(world.now))
    await world.run(500)
    line.socket.write('x')
    await world.run(5000)
    expect(times).toEqual([1510])
  })
})

describe('The threads of a simulated connection', () => {
  it('read nothing while they are frozen, and then all of it', async () => {
    const line = await open()
    await world.run(10)
    server.freeze()
    line.socket.write('one')
    await world.run(50)
    line.socket.write('two')
    await world.run(1000)
    expect(accepted[0]!.text).toBe('')
    server.thaw()
    await world.run(10)
    expect(accepted[0]!.text).toBe('onetwo')
  })

  it('close their connections when they are killed', async () => {
    const line = await open()
    await world.run(10)
    server.kill()
    await world.run(100)
    expect(line.heard).toEqual(['end', 'close'])
    await expect(open()).rejects.toThrow('ECONNREFUSED')
  })

  it('that are killed with bytes on their way get them reset', async () => {
    const line = await open()
    await world.run(10)
    line.socket.write('on its way')
    server.kill()
    await world.run(100)
    expect(line.heard.at(-1)).toBe('close')
  })

  it('do nothing any more once they are dead', async () => {
    const line = await open()
    await world.run(10)
    client.kill()
    line.socket.write('from the dead')
    line.socket.destroy()
    await world.run(100)
    expect(accepted[0]!.heard).toEqual(['end'])
    expect(line.heard).not.toContain('data')
  })

  it('are not heard of after a loss of power, until the network is healed', async () => {
    const line = await open()
    await world.run(10)
    network.losePower(server)
    server.kill()
    line.socket.write('hello?')
    await world.run(60_000)
    expect(line.heard).toEqual([])
    await expect(open()).rejects.toMatchObject({ code: 'ETIMEDOUT' })
    network.heal()
    await world.run(100)
    expect(line.heard).toEqual(['ECONNRESET', 'close'])
  })
})

describe('Opening a simulated connection', () => {
  it.each([
    ['refused', { code: 'ECONNREFUSED', syscall: 'connect' }, 10],
    ['unknownName', { code: 'ENOTFOUND', syscall: 'getaddrinfo' }, 5],
    ['nameServerSilent', { code: 'EAI_AGAIN', syscall: 'getaddrinfo' }, 5],
  ] as const)('fails by %s with the error of Node', async (name, error, at) => {
    network.conditions = { ...plain, [name]: 1 }
    await expect(open()).rejects.toMatchObject(error)
    expect(world.now).toBe(at)
  })

  it('takes too long where nothing answers', async () => {
    network.conditions = { ...plain, unanswered: 1 }
    await expect(open()).rejects.toMatchObject({ code: 'ETIMEDOUT' })
    expect(world.now).toBeGreaterThanOrEqual(connectTimeoutMs)
    expect(world.now).toBeLessThan(connectTimeoutMs + 1000)
  })

  it('is refused at a name that is known, and has no server at the port', async () => {
    network.listen('other.test:443', () => {})
    await expect(open('other.test')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    await expect(open('nobody.test')).rejects.toMatchObject({ code: 'ENOTFOUND' })
  })

  it('leaves nothing when it is given up', async () => {
    const target = { hostname: 'service.test', host: 'service.test', protocol: 'http:', port: '' }
    const socket = network.connector(client, { connectTimeoutMs })(target, () => {}) as unknown as SimulatedSocket
    socket.destroy()
    await world.run(60_000)
    expect(accepted).toEqual([])
    expect(network.socketsOf(client)).toEqual([])
  })
})

describe('A cut', () => {
  const cut = (how: Partial<Conditions>, afterBytes: number): Conditions => ({
    ...plain,
    cutAfterBytes: [afterBytes, afterBytes],
    resetOvertakes: 0,
    ...how,
  })

  /** Open connections until one is cut in this direction, after both sides have written 1000 bytes. */
  async function both(towards: 'server' | 'client', conditions: Conditions): Promise<{ there: Line; back: Line }> {
    for (;;) {
      network.conditions = conditions
      const line = await open()
      await world.run(10)
      const other = accepted.at(-1)!
      line.socket.write(pattern(1000))
      await world.run(100)
      other.socket.write(pattern(1000))
      await world.run(100)
      const [there, back] = towards === 'server' ? [other, line] : [line, other]
      if (there.text.length < 1000) return { there, back }
    }
  }

  it.each(['server', 'client'] as const)('by a reset lets so many bytes through towards the %s', async (towards) => {
    const { there, back } = await both(towards, cut({ reset: 1 }, 300))
    expect(there.text).toBe(pattern(300))
    expect(there.heard.slice(-2)).toEqual(['ECONNRESET', 'close'])
    expect(back.heard.slice(-2)).toEqual(['ECONNRESET', 'close'])
  })

  it('in good order ends both directions', async () => {
    const { there, back } = await both('client', cut({ closed: 1 }, 300))
    expect([there.text, there.heard]).toEqual([pattern(300), ['data', 'end', 'close']])
    expect(back.heard).toContain('end')
  })

  it('by a black hole stops all bytes, while writes succeed; healing resets the connection', async () => {
    const { there, back } = await both('server', cut({ blackHole: 1 }, 300))
    let written = false
    back.socket.write('more', () => {
      written = true
    })
    await world.run(60_000)
    expect([there.text, written]).toEqual([pattern(300), true])
    expect([there.heard, back.heard]).toEqual([['data'], []])
    network.heal()
    await world.run(100)
    expect(there.heard).toEqual(['data', 'ECONNRESET', 'close'])
    expect(back.heard).toEqual(['ECONNRESET', 'close'])
  })

  it('does not happen to a connection that was healed before', async () => {
    network.conditions = cut({ reset: 1 }, 300)
    const line = await open()
    await world.run(10)
    network.heal()
    line.socket.write(pattern(1000))
    await world.run(100)
    accepted[0]!.socket.write(pattern(1000))
    await world.run(100)
    expect([accepted[0]!.text.length, line.text.length]).toEqual([1000, 1000])
  })

  it('can be that of every open connection: all reset, or a pulled cable', async () => {
    const lines = [await open(), await open()]
    await world.run(10)
    network.resetAll()
    await world.run(100)
    for (const line of [...lines, ...accepted]) expect(line.heard).toEqual(['ECONNRESET', 'close'])
    const line = await open()
    network.blackOut()
    line.socket.write('x')
    await world.run(1000)
    expect([line.heard, accepted.at(-1)!.text]).toEqual([[], ''])
  })
})
