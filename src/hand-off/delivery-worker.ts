import { Writable } from 'node:stream'
import { parentPort } from 'node:worker_threads'
import type { Machine } from '../engine/machine.js'
import { WorkerPosition } from '../engine/worker-position.js'
import { LineBytes } from '../records/line-bytes.js'
import { queueMicrotask } from '../runtime/clock.js'
import { engineCode } from './frames.js'
import { answerHeartbeat } from './heartbeat.js'
import { heartbeatQuestion, type OpenEngine, type WorkerMessage, type WorkerPlan, workerStates } from './protocol.js'
import { WorkerEngine } from './worker-engine.js'

/** The connection of a delivery worker to the application's thread, beside the stream of lines. */
export interface WorkerPort {
  /** Call `listener` with each message from the application's thread. */
  listen(listener: (message: unknown) => void): void
  post(message: WorkerMessage): void
  /** @default this machine */
  readonly machine?: Machine
}

/** The delivery worker of the process. Started by thread-stream. */
export default function deliveryWorker(plan: WorkerPlan): Writable {
  return lineStream(plan, {
    listen: (listener) => void parentPort?.on('message', listener),
    post: (message) => plan.news.postMessage(message),
  })
}

/** The stream of a delivery worker. It takes the lines of every engine, delivers, and answers drains. */
export function lineStream(
  { state, heartbeat, position: memory }: Omit<WorkerPlan, 'news'>,
  { listen, post, machine }: WorkerPort,
): Writable {
  const progress = new Int32Array(state)
  const position = new WorkerPosition(memory)
  position.nameThread()
  const engines = new Map<number, WorkerEngine>()
  const lines = new LineBytes()
  /** The lines are for this engine until a line names another one. */
  let current = 0

  listen((message) => {
    if (message === heartbeatQuestion) answerHeartbeat(heartbeat)
    else if (isOpenEngine(message)) engineNumbered(message.engine).open(message.plan)
  })

  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _encoding, done) {
      if (typeof chunk === 'string') lines.push(chunk)
      else lines.pushBytes(chunk)
      position.takesLinesOf(current)
      while (lines.next()) take(lines.bytes, lines.from, lines.end)
      // The spool writes the lines to the disk at the end of this turn, before this task.
      queueMicrotask(() => position.takesNoLines())
      done()
    },
  })
  Atomics.compareExchange(progress, 0, workerStates.starting, workerStates.reading)
  Atomics.notify(progress, 0)
  return stream

  function take(bytes: Buffer, from: number, end: number): void {
    if (Atomics.load(progress, 0) === workerStates.halted) return
    position.advance()
    if (bytes[from] !== engineCode) engineNumbered(current).take(bytes, from, end)
    else {
      current = Number(bytes.toString('latin1', from + 1, end))
      position.takesLinesOf(current)
    }
  }

  function engineNumbered(number: number): WorkerEngine {
    let engine = engines.get(number)
    if (engine === undefined) {
      engine = new WorkerEngine({ engine: number, position, post, closed: () => void engines.delete(number), machine })
      engines.set(number, engine)
    }
    return engine
  }
}

function isOpenEngine(message: unknown): message is OpenEngine {
  return typeof message === 'object' && message !== null && (message as { type?: unknown }).type === 'sluice.open'
}
