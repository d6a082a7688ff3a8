import { Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { parentPort } from 'node:worker_threads'
import { Secret } from '../options/secret.js'
import { Engine } from './engine.js'
import { readFrame } from './frames.js'
import type { WorkerMessage, WorkerPlan } from './worker-link.js'

/** The delivery worker, as thread-stream starts it: takes frames, delivers, and answers drains. */
export default function deliveryWorker({ options, apiKey, memory, ready }: WorkerPlan): Writable {
  const engine = new Engine(
    { ...options, apiKey: new Secret(apiKey), onError: undefined },
    {
      memory,
      handedOver: true,
      // The application's side tells of it, in its own time.
      untold: 'shutdown',
      listeners: {
        error: (error) => say({ type: 'error', code: error.code, text: error.message }),
        channel: (name, message) => say({ type: 'channel', name, message }),
      },
    },
  )
  const decoder = new StringDecoder('utf8')
  let rest = ''

  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _encoding, done) {
      const lines = (rest + (typeof chunk === 'string' ? chunk : decoder.write(chunk))).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) take(engine, line)
      done()
    },
    final(done) {
      void engine.close().then(() => done())
    },
  })
  const flag = new Int32Array(ready)
  Atomics.store(flag, 0, 1)
  Atomics.notify(flag, 0)
  return stream
}

function take(engine: Engine, line: string): void {
  const frame = readFrame(line)
  switch (frame.type) {
    case 'log':
      engine.logHead(frame.severity, frame.head)
      return
    case 'winston':
      engine.winstonLine(frame.line, frame)
      return
    case 'value':
      engine.value(frame.eventId, frame.milliseconds)
      return
    case 'drain': {
      const { mode, request, timeoutMs } = frame
      void engine[mode]({ timeoutMs }).then(() => say({ type: 'drained', request }))
    }
  }
}

/** An event on the stream in the application's thread, in thread-stream's words. */
function say(message: WorkerMessage): void {
  parentPort?.postMessage({ code: 'EVENT', name: 'sluice', args: [message] })
}
