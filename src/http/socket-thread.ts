import type { MessagePort } from 'node:worker_threads'
import type { Route, Security, Tunnel } from './route.js'

/** The `workerData` of the thread. */
export interface SocketThreadPlan {
  readonly port: MessagePort
  /** One word: increased for each message at the port, which is a list of events, and once when the thread is ready. */
  readonly signal: SharedArrayBuffer
}

/** A message to the thread is a list of these. */
export type SocketCommand =
  | { readonly id: number; readonly type: 'open'; readonly route: Route }
  /** The bytes stand behind the first word, which is 1 while they are needed. */
  | { readonly id: number; readonly type: 'write'; readonly memory: SharedArrayBuffer; readonly length: number }
  | { readonly id: number; readonly type: 'end' | 'destroy' }

export type SocketEvent =
  | { readonly id: number; readonly type: 'opened' | 'ended' }
  | { readonly id: number; readonly type: 'received'; readonly bytes: Uint8Array }
  | { readonly id: number; readonly type: 'closed'; readonly serverKnows: boolean; readonly failure?: SocketFailure }

/** What is told of an error: no more than its text would come through by itself. */
export interface SocketFailure {
  readonly message: string
  readonly code: string | undefined
  /** In the words of OpenSSL. */
  readonly reason: string | undefined
}

/**
 * Holds the sockets for a thread that waits. It knows no HTTP, but for the request for a tunnel. It is started from its own text, so that it
 * works in a bundle. So it uses nothing from outside but the modules of Node. It names no function, because bundlers mark named functions by
 * calls to helpers. It has no async functions and no spread of objects, because bundlers for old targets write these as calls to helpers.
 */
export function socketThread(): void {
  /** A socket in the making, or made. */
  interface Held {
    readonly id: number
    /** Inside a tunnel it is another one than before. */
    socket: import('node:net').Socket
    error: (Error & { code?: string; reason?: string; syscall?: string; errors?: readonly Error[] }) | undefined
    readonly timer: NodeJS.Timeout
  }
  const { workerData } = process.getBuiltinModule('node:worker_threads')
  const net = process.getBuiltinModule('node:net')
  const { port, signal } = workerData as SocketThreadPlan
  const word = new Int32Array(signal)
  const mostHeadBytes = 16_384
  const all = new Map<number, Held>()
  const told: SocketEvent[] = []
  /** Of TLS: the last one of each server. */
  const sessions = new Map<string, Buffer>()
  const own = {} as {
    wake(): void
    /** In one message with all that happens in this turn of the event loop. */
    tell(event: SocketEvent): void
    open(id: number, route: Route): void
    /** Go on when the event comes, and tell of the close unless another socket has taken its place. */
    follow(held: Held, event: 'connect' | 'secureConnect', then: () => void): void
    secure(security: Security, over: object): import('node:tls').TLSSocket
    askForTunnel(held: Held, tunnel: Tunnel): void
    opened(held: Held): void
  }
  own.wake = () => {
    Atomics.add(word, 0, 1)
    Atomics.notify(word, 0)
  }
  own.tell = (event) => {
    if (told.push(event) > 1) return
    setImmediate(() => {
      port.postMessage(told.splice(0))
      own.wake()
    })
  }
  own.follow = (held, event, then) => {
    const { id, socket, timer } = held
    socket.setNoDelay(true).once(event, then)
    socket.on('error', (error) => {
      held.error ??= error
    })
    socket.once('close', () => {
      if (held.socket !== socket) return
      clearTimeout(timer)
      all.delete(id)
      const { error } = held
      const serverKnows = socket.readableEnded || error?.syscall !== undefined
      if (error === undefined) {
        own.tell({ id, type: 'closed', serverKnows })
        return
      }
      // One error for each address of the host.
      const message = error.message || (error.errors ?? []).map((each) => each.message).join('; ')
      own.tell({ id, type: 'closed', serverKnows, failure: { message, code: error.code, reason: error.reason } })
    })
  }
  own.secure = ({ host, servername, ca }, over) => {
    const { connect } = process.getBuiltinModule('node:tls')
    const session = sessions.get(host)
    const socket = connect(Object.assign({ host, servername, ca, session, ALPNProtocols: ['http/1.1'] }, over))
    return socket.on('session', (latest) => sessions.set(host, latest))
  }
  own.askForTunnel = (held, { request, security }) => {
    const { socket } = held
    let head = ''
    socket.on('data', (chunk) => {
      head += chunk.toString('latin1')
      const [, status] = /^HTTP\/1\.\d (\d{3}).*\r\n\r\n/s.exec(head) ?? []
      if (status === '200') {
        socket.removeAllListeners('data').pause()
        held.socket = own.secure(security, { socket })
        own.follow(held, 'secureConnect', () => own.opened(held))
      } else if (status !== undefined) socket.destroy(new Error(`the proxy answered ${status}`))
      else if (head.length > mostHeadBytes) socket.destroy(new Error('the answer of the proxy is not understood'))
    })
    socket.write(request)
  }
  own.opened = ({ id, socket, timer }) => {
    clearTimeout(timer)
    socket.on('data', (bytes) => own.tell({ id, type: 'received', bytes }))
    socket.on('end', () => own.tell({ id, type: 'ended' }))
    own.tell({ id, type: 'opened' })
  }

  own.open = (id, { host, port, security, tunnel, timeoutMs }) => {
    const timer = setTimeout(() => {
      const reason = `no connection within ${timeoutMs} ms`
      held.socket.destroy(Object.assign(new Error(reason), { code: 'ETIMEDOUT' }))
    }, timeoutMs)
    const socket = security === undefined ? net.connect({ host, port }) : own.secure(security, { port })
    const held: Held = { id, socket, error: undefined, timer }
    all.set(id, held)
    own.follow(held, security === undefined ? 'connect' : 'secureConnect', () => {
      if (tunnel === undefined) own.opened(held)
      else own.askForTunnel(held, tunnel)
    })
  }

  port.on('message', (commands: readonly SocketCommand[]) => {
    for (const command of commands) {
      const socket = all.get(command.id)?.socket
      if (command.type === 'open') own.open(command.id, command.route)
      else if (command.type === 'write') {
        const { memory, length } = command
        const inUse = new Int32Array(memory, 0, 1)
        socket?.write(Buffer.from(memory, 4, length), () => Atomics.store(inUse, 0, 0))
      } else if (command.type === 'end') socket?.end()
      else socket?.destroy()
    }
  })
  own.wake()
}
