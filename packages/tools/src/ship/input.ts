import { createReadStream, open, type Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { promisify } from 'node:util'
import { pause } from '../../../../src/http/requester.js'
import type { Clock } from '../../../../src/runtime/clock.js'
import { type Line, LineSplitter } from '../line-splitter.js'

export const pieceBytes = 65_536

/** Open a file, or a named pipe such as `<(journalctl)`. Rejects with the error of the file system. */
export async function openInput(path: string): Promise<Readable> {
  const facts = await factsOf(path)
  if (!facts.isFIFO() && !facts.isSocket()) return createReadStream(path, { highWaterMark: pieceBytes })
  // A socket, because a thread that blocks in a read of a pipe delays the end of the process.
  return new Socket({ fd: await promisify(open)(path, 'r'), readable: true, writable: false })
}

/** `stat`, but it rejects for a folder, too. */
export async function factsOf(path: string): Promise<Stats> {
  const facts = await stat(path)
  if (facts.isDirectory()) throw Object.assign(new Error(`${path} is a folder`), { code: 'EISDIR' })
  return facts
}

/** Passes bytes on to stdout, as fast as its reader takes them. Without a reader, the bytes are discarded and the work goes on. */
export class Outlet {
  readonly #target: Writable
  #failure: NodeJS.ErrnoException | undefined
  #wake: () => void = () => {}
  #abandoned = false

  constructor(target: Writable) {
    this.#target = target
    target.on('drain', () => this.#wake())
    target.on('error', (error) => {
      this.#failure ??= error
      this.abandon()
    })
    target.on('close', () => this.abandon())
  }

  /** Resolves when more bytes may be passed on. Never rejects. */
  async pass(bytes: Buffer): Promise<void> {
    if (this.#abandoned || this.#target.write(bytes) || this.#target.writableLength === 0) return
    await new Promise<void>((resolve) => {
      this.#wake = resolve
      if (this.#abandoned) resolve()
    })
  }

  /** Stop waiting for the reader. */
  abandon(): void {
    this.#abandoned = true
    this.#wake()
  }

  /** Why bytes could not be passed on. A reader that has gone, as `head` does, is no failure. */
  get failure(): string | undefined {
    return this.#failure === undefined || this.#failure.code === 'EPIPE' ? undefined : this.#failure.message
  }

  /** True while the reader has not taken all bytes. */
  get pending(): boolean {
    return this.#failure === undefined && this.#target.writableLength > 0
  }
}

export interface PipePlan {
  readonly outlet: Outlet | undefined
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Take a line. False ends the reading. */
  readonly take: (line: Line) => Promise<boolean>
  /** Called when the time for the last lines is over. */
  readonly hurry: () => void
}

/** After a signal, the program at the other end of the pipe has this long to write its last lines. It mostly got the signal as well. */
const lastLinesMs = 500

/** Read a pipe to its end, or until a short time after `signal`. Every byte that was read is passed on and taken. */
export async function readPipe(input: Readable, { outlet, clock, signal, take, hurry }: PipePlan): Promise<void> {
  const splitter = new LineSplitter()
  const over = new AbortController()
  let left = false
  let wake = () => {}
  const leave = async () => {
    await pause(clock, { ms: lastLinesMs, signal: over.signal }).catch(() => {})
    hurry()
    outlet?.abandon()
    left = true
    wake()
  }
  // Promise.race would keep the result of each race for as long as the promise of the signal lives.
  const orLeft = <Result>(work: Promise<Result>): Promise<Result | 'left'> =>
    new Promise((resolve, reject) => {
      wake = () => resolve('left')
      if (left) wake()
      work.then(resolve, reject)
    })
  const takePiece = async (piece: Buffer) => {
    const passed = outlet?.pass(piece)
    for (const line of splitter.push(piece))
      if (!(await take(line))) throw new Error('not read on, because the service takes nothing')
    await passed
  }
  if (signal.aborted) void leave()
  else signal.addEventListener('abort', leave, { once: true, signal: over.signal })
  const pieces = input.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer, undefined>
  try {
    for (;;) {
      const next = await orLeft(pieces.next())
      if (next === 'left' || next.done === true) break
      await takePiece(next.value)
    }
    for (let piece = input.read(); piece !== null; piece = input.read()) await takePiece(piece as Buffer)
    const rest = splitter.end()
    if (rest !== undefined) await take(rest)
  } finally {
    over.abort()
    input.on('error', () => {}).destroy()
  }
}
