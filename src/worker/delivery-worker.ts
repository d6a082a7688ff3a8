import { Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { parentPort } from 'node:worker_threads'
import { Secret } from '../options/secret.js'
import type { PinoStyle } from '../records/from-pino.js'
import { Engine } from './engine.js'
import { deliverLine, type Frame, isRecord, readFrame } from './frames.js'
import { pulseQuestion, type WorkerMessage, type WorkerPlan, workerStates } from './protocol.js'
import { answerPulse } from './pulse.js'

/** The delivery worker, as thread-stream starts it: takes frames, delivers, and answers drains. */
export default function deliveryWorker({ options, apiKey, memory, state, pulse }: WorkerPlan): Writable {
  const engine = new Engine(
    { ...options, apiKey: new Secret(apiKey), accessToken: undefined, onError: undefined },
    {
      memory,
      handedOver: true,
      // The application's side tells of it, in its own time.
      untold: ['shutdown'],
      listeners: {
        error: (error) => say({ type: 'error', code: error.code, text: error.message }),
        channel: (name, message) => say({ type: 'channel', name, message }),
      },
    },
  )
  const progress = new Int32Array(state)
  const reach = (next: number) => {
    Atomics.store(progress, 0, next)
    Atomics.notify(progress, 0)
  }
  parentPort?.on('message', (message: unknown) => {
    if (message === pulseQuestion) answerPulse(pulse)
  })
  const styles: PinoStyle[] = []
  const decoder = new StringDecoder('utf8')
  let rest = ''

  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _encoding, done) {
      const lines = (rest + (typeof chunk === 'string' ? chunk : decoder.write(chunk))).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) take(line)
      done()
    },
  })
  reach(workerStates.reading)
  return stream

  function take(line: string): void {
    if (Atomics.load(progress, 0) === workerStates.halted) return
    if (isRecord(line)) {
      deliverLine(engine, line, styles)
      return
    }
    const frame = readFrame(line)
    if (frame.type === 'style') styles[frame.number] = frame.style
    else if (frame.type === 'drain') void drain(frame)
  }

  async function drain({ mode, request, timeoutMs }: Frame & { type: 'drain' }): Promise<void> {
    await engine[mode]({ timeoutMs })
    if (mode === 'close') reach(workerStates.closed)
    say({ type: 'drained', request })
  }
}

/** An event on the stream in the application's thread, in thread-stream's words. */
function say(message: WorkerMessage): void {
  parentPort?.postMessage({ code: 'EVENT', name: 'sluice', args: [message] })
}
