import type { Machine } from '../engine/machine.js'
import { WorkerPosition } from '../engine/worker-position.js'
import { answerHeartbeat } from './heartbeat.js'
import { heartbeatQuestion, type OpenEngine, type WorkerMessage, type WorkerPlan, workerStates } from './protocol.js'
import { WorkerEngine } from './worker-engine.js'

/** The connection of a delivery worker to the application's thread, beside the memory that they share. */
export interface WorkerPort {
  /** Call `listener` with each message from the application's thread. */
  listen(listener: (message: unknown) => void): void
  post(message: WorkerMessage): void
  /** @default this machine */
  readonly machine?: Machine
}

/** Deliver for the engines that the application's thread opens, and answer its questions. */
export function hostEngines(
  { state, heartbeat, position: memory }: Omit<WorkerPlan, 'news'>,
  { listen, post, machine }: WorkerPort,
): void {
  const progress = new Int32Array(state)
  const position = new WorkerPosition(memory)
  position.nameThread()
  const engines = new Map<number, WorkerEngine>()
  const isHalted = () => Atomics.load(progress, 0) === workerStates.halted

  listen((message) => {
    if (message === heartbeatQuestion) answerHeartbeat(heartbeat)
    else if (isOpenEngine(message)) {
      const { engine, plan } = message
      const closed = () => void engines.delete(engine)
      engines.set(engine, new WorkerEngine({ engine, plan, position, post, isHalted, closed, machine }))
    }
  })
  Atomics.compareExchange(progress, 0, workerStates.starting, workerStates.running)
  Atomics.notify(progress, 0)
}

function isOpenEngine(message: unknown): message is OpenEngine {
  return typeof message === 'object' && message !== null && (message as { type?: unknown }).type === 'sluice.open'
}
