import { once } from 'node:events'
import { WebSocket } from 'undici'
import { listenTo, type Running } from './programs.js'

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: Record<string, unknown>
}

/** A debugger over the inspector protocol, as an editor is one. It resumes whatever pauses, also in threads, and says where that was. */
export class Debugger {
  /** Reason of each pause: of the main thread, and of others after `thread:`. */
  readonly pauses: string[] = []
  readonly #socket: WebSocket
  #ids = 0

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.addEventListener('message', ({ data }) =>
      this.#heard(JSON.parse(String(data)), (...it) => this.#post(...it)),
    )
  }

  /** Attaches to a program that was started with `--inspect` or `--inspect-brk`. `threads`: it attaches to its worker threads, too. */
  static async attach(program: Running, { threads = false } = {}): Promise<Debugger> {
    let said = ''
    program.process.stderr.on('data', (piece) => {
      said += piece
    })
    const hears = listenTo(program.process.stderr)
    await hears('For help, see')
    const socket = new WebSocket(/ws:\/\/\S+/.exec(said)?.[0] ?? '')
    await once(socket, 'open')
    const attached = new Debugger(socket)
    attached.#post('Runtime.enable')
    attached.#post('Debugger.enable')
    attached.#post('Debugger.setPauseOnExceptions', { state: 'uncaught' })
    if (threads) attached.#post('NodeWorker.enable', { waitForDebuggerOnStart: true })
    attached.#post('Runtime.runIfWaitingForDebugger')
    await hears('Debugger attached.')
    return attached
  }

  detach(): void {
    this.#socket.close()
  }

  #post(method: string, params: Record<string, unknown> = {}): void {
    this.#socket.send(JSON.stringify({ id: ++this.#ids, method, params }))
  }

  #heard({ method, params = {} }: Message, post: (method: string) => void, thread = ''): void {
    const { sessionId } = params
    const toThread = (method: string) => {
      const message = JSON.stringify({ id: ++this.#ids, method })
      this.#post('NodeWorker.sendMessageToWorker', { sessionId, message })
    }
    if (method === 'Debugger.paused') {
      this.pauses.push(`${thread}${params.reason}`)
      post('Debugger.resume')
    } else if (method === 'NodeWorker.attachedToWorker') {
      for (const order of ['Runtime.enable', 'Debugger.enable', 'Runtime.runIfWaitingForDebugger']) toThread(order)
    } else if (method === 'NodeWorker.receivedMessageFromWorker') {
      this.#heard(JSON.parse(String(params.message)), toThread, 'thread: ')
    }
  }
}
