import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { createServer as createTlsServer, TLSSocket } from 'node:tls'

/** An answer or a fault of the server for one request. After those that commit, the server has the record, whatever the client hears. */
export type Fault =
  | {
      readonly type: 'answer'
      readonly status: number
      readonly headers?: Readonly<Record<string, string>>
      readonly body?: string
      /** Takes the record at once and answers this much later. */
      readonly afterMs?: number
    }
  /** Closes with RST, nothing taken. */
  | { readonly type: 'reset-before-answer' }
  /** Takes the record, then closes with RST. */
  | { readonly type: 'reset-after-commit' }
  /** Takes the record, sends the head and half of the body, then RST or FIN. */
  | { readonly type: 'reset-in-body' | 'fin-in-body' }
  /** Takes the record, sends half of the head, then FIN. */
  | { readonly type: 'fin-in-head' }
  /** Takes the record, answers with a body of 50 MB. */
  | { readonly type: 'oversized' }
  /** Takes the record, answers with bytes that are not HTTP. */
  | { readonly type: 'garbage' }
  /** Takes the record, answers one byte at a time, this far apart. */
  | { readonly type: 'trickle'; readonly everyMs: number }
  /** Takes nothing and never answers. */
  | { readonly type: 'silence' }
  /** Reads no further on this connection. */
  | { readonly type: 'deafness' }
  /** Takes the record, writes these bytes, then goes on, reads no further, or ends the connection. */
  | { readonly type: 'bytes'; readonly text: string; readonly next: 'go-on' | 'deafness' | 'fin' }
  /** Takes the record, answers, then closes, with or without saying so. */
  | { readonly type: 'close'; readonly announced: boolean }

export interface Request {
  /** Which connection it came on, from 1. */
  readonly connection: number
  readonly path: string
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
  /** Position among all requests, from 0. */
  readonly number: number
}

export const delivered: Fault = {
  type: 'answer',
  status: 201,
  body: '{"result":true,"validationErrors":[],"errors":[]}',
}

/** A server on a raw socket that does to each request what its script says, and remembers what it took. */
export class FaultServer {
  /** Every complete request, in order of arrival. */
  readonly requests: Request[] = []
  /** Bodies that were taken, one entry for each time. */
  readonly taken: string[] = []
  /** Whole answers that were written, by `answer`. */
  answered = 0
  connections = 0
  /** Bytes that have come, also those of requests that were not read any more. */
  received = 0
  script: (request: Request) => Fault
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #secure: boolean
  #watcher: () => void = () => {}

  private constructor(script: (request: Request) => Fault, certificate: 'foreign' | 'expired' | 'service' | undefined) {
    this.script = script
    this.#secure = certificate !== undefined
    const serve = (socket: Socket) => this.#serve(socket)
    if (certificate === undefined) this.#server = createServer(serve)
    else {
      const pem = (name: string) => readFileSync(join(import.meta.dirname, `certificates/${name}.pem`))
      this.#server = createTlsServer({ key: pem('key'), cert: pem(certificate) }, serve)
    }
  }

  static async start(
    script: (request: Request) => Fault = () => delivered,
    { port = 0, certificate }: { port?: number; certificate?: 'foreign' | 'expired' | 'service' } = {},
  ): Promise<FaultServer> {
    const server = new FaultServer(script, certificate)
    await new Promise<void>((resolve) => server.#server.listen(port, '127.0.0.1', resolve))
    return server
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get url(): string {
    return this.#secure ? `https://localhost:${this.port}` : `http://127.0.0.1:${this.port}`
  }

  /** Begin anew, as if nothing had come yet. */
  forget(): void {
    this.requests.length = 0
    this.taken.length = 0
  }

  /** Close every connection, as servers do with those that have been idle for long. */
  async hangUp(): Promise<void> {
    await Promise.all([...this.#sockets].map((socket) => new Promise((done) => socket.once('close', done).destroy())))
  }

  /** When so many more requests have come. */
  async arrived(count: number): Promise<void> {
    const enough = this.requests.length + count
    await new Promise<void>((resolve) => {
      this.#watcher = () => {
        if (this.requests.length >= enough) resolve()
      }
    })
  }

  /** When the connection that was opened last has been closed. */
  async gone(): Promise<void> {
    const last = [...this.#sockets].at(-1)
    await new Promise((resolve) => (last === undefined ? resolve(undefined) : last.once('close', resolve)))
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #serve(socket: Socket): void {
    const connection = ++this.connections
    this.#sockets.add(socket)
    socket.on('close', () => this.#sockets.delete(socket)).on('error', () => {})
    let received = Buffer.alloc(0)
    let serving = true
    const turns = new Turns()
    socket.on('data', (chunk) => {
      this.received += chunk.length
      if (!serving) return
      received = Buffer.concat([received, chunk])
      for (;;) {
        const parsed = parse(received)
        if (parsed === undefined) return
        received = received.subarray(parsed.length)
        const request = { ...parsed.request, number: this.requests.length, connection }
        this.requests.push(request)
        this.#watcher()
        serving = this.#act(request, { socket, turns })
        if (!serving) return
      }
    })
  }

  /** Returns whether the connection goes on. */
  #act(request: Request, { socket, turns }: { socket: Socket; turns: Turns }): boolean {
    const fault = this.script(request)
    if (commits(fault)) this.taken.push(request.body)
    const afterMs = fault.type === 'answer' ? fault.afterMs : undefined
    turns.add((done) => this.#answer(fault, { socket, done }), afterMs)
    const goesOn = fault.type === 'answer' || fault.type === 'trickle'
    return goesOn || (fault.type === 'bytes' && fault.next === 'go-on')
  }

  #answer(fault: Fault, { socket, done }: { socket: Socket; done: () => void }): void {
    switch (fault.type) {
      case 'answer':
        this.answered++
        socket.write(response(fault.status, fault.body ?? '', fault.headers))
        done()
        return
      case 'reset-before-answer':
      case 'reset-after-commit':
        reset(socket)
        return
      case 'reset-in-body':
      case 'fin-in-body': {
        const whole = response(201, '{"result":true}')
        const part = whole.slice(0, whole.length - 8)
        if (fault.type === 'fin-in-body') socket.end(part)
        else socket.write(part, () => setImmediate(reset, socket))
        return
      }
      case 'fin-in-head':
        socket.end('HTTP/1.1 201 Crea')
        return
      case 'oversized': {
        socket.write('HTTP/1.1 201 Created\r\ncontent-length: 50000000\r\n\r\n')
        const chunk = Buffer.alloc(65_536, ' ')
        let left = 50_000_000
        const write = () => {
          while (left > 0 && socket.writable) {
            left -= chunk.length
            if (!socket.write(chunk)) return
          }
        }
        socket.on('drain', write)
        write()
        return
      }
      case 'garbage':
        socket.write('\u0000\u0001 this is not HTTP \r\n\r\n')
        return
      case 'trickle': {
        const bytes = [...response(201, '{"result":true}')]
        const timer = setInterval(() => {
          const next = bytes.shift()
          if (next !== undefined && socket.writable) {
            socket.write(next)
            return
          }
          clearInterval(timer)
          done()
        }, fault.everyMs)
        timer.unref()
        return
      }
      case 'silence':
        return
      case 'deafness':
        socket.pause()
        return
      case 'bytes':
        if (fault.next === 'fin') socket.end(fault.text, 'latin1')
        else socket.write(fault.text, 'latin1')
        if (fault.next === 'deafness') socket.pause()
        if (fault.next === 'go-on') done()
        return
      case 'close':
        socket.end(response(201, '{"result":true}', fault.announced ? { connection: 'close' } : {}))
        return
    }
  }
}

/** Closes with RST; over TLS, where Node has no such thing, without the word of TLS that ends a connection. */
function reset(socket: Socket): void {
  if (socket instanceof TLSSocket) socket.destroy()
  else socket.resetAndDestroy()
}

/** The answers of a connection, in order: an answer never overtakes an earlier one. */
class Turns {
  readonly #waiting: { ready: boolean; readonly run: (done: () => void) => void }[] = []
  #busy = false

  /** It is ready after `afterMs` from now, and its turn comes when all before it are done. */
  add(run: (done: () => void) => void, afterMs: number | undefined): void {
    const turn = { ready: afterMs === undefined, run }
    this.#waiting.push(turn)
    if (turn.ready) this.#next()
    else {
      setTimeout(() => {
        turn.ready = true
        this.#next()
      }, afterMs).unref()
    }
  }

  #next(): void {
    if (this.#busy || this.#waiting[0]?.ready !== true) return
    this.#busy = true
    this.#waiting.shift()!.run(() => {
      this.#busy = false
      this.#next()
    })
  }
}

/** True when the server has the record afterwards, whatever the client hears. */
export function commits(fault: Fault): boolean {
  if (fault.type === 'answer') return fault.status >= 200 && fault.status < 300
  return !['reset-before-answer', 'silence', 'deafness'].includes(fault.type)
}

export function response(status: number, body: string, headers: Readonly<Record<string, string>> = {}): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} Status\r\n${lines.join('')}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

function parse(bytes: Buffer): { request: Omit<Request, 'number' | 'connection'>; length: number } | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const [start = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n')
  const headers = new Map(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  const length = end + 4 + Number(headers.get('content-length') ?? 0)
  if (bytes.length < length) return undefined
  const body = bytes.toString('utf8', end + 4, length)
  return { request: { path: start.split(' ')[1] ?? '', headers, body }, length }
}
