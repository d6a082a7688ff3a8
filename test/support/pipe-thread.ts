import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'

/** Both ends of a pipe as code that a worker or a program runs: `pipe.PipeMemory`, `pipe.PipeWriter`, `pipe.PipeReader`. */
const bundle = buildSync({
  stdin: {
    contents: `export * from './pipe-memory.js'; export * from './pipe-writer.js'; export * from './pipe-reader.js'`,
    resolveDir: fileURLToPath(new URL('../../src/pipe', import.meta.url)),
  },
  bundle: true,
  platform: 'node',
  format: 'iife',
  globalName: 'pipe',
  write: false,
}).outputFiles[0]!.text

/** In the ledger: records that were taken, and those that came in another order. */
export const ledgerWord = { taken: 0, wrong: 1 } as const

/**
 * A worker that takes the records of a pipe. Their numbers rise by one: the number of a value is its event's, that of a line is its time.
 * workerData: the memories of the pipe and of the ledger.
 */
export const readerCode = `${bundle}
  const { parentPort, workerData } = require('node:worker_threads')
  const memory = pipe.PipeMemory.open(workerData.memory)
  const ledger = new Int32Array(workerData.ledger)
  const reader = new pipe.PipeReader(memory)
  const count = (number) => {
    const wrong = number === ledger[0] ? 0 : 1
    if (wrong) Atomics.add(ledger, 1, 1)
    Atomics.add(ledger, 0, 1)
    Atomics.notify(ledger, 0)
  }
  const sink = {
    taken: () => Atomics.load(ledger, 0),
    value: (eventId) => count(eventId),
    keyed: (eventId, ms, key) => count(key === 'k' + eventId ? eventId : -1),
    text: (head, bytes, from, end) => count(bytes.latin1Slice(from, end) === 'x'.repeat(head.style) ? head.time : -1),
    unreadable: (head) => count(head.time),
  }
  const look = () => {
    if (!reader.take(sink, 65536)) setImmediate(look)
  }
  memory.bells.bell.heard(look)
  look()
  parentPort.on('message', () => {})
  parentPort.postMessage('ready')
`

/** Writes records as {@link readerCode} expects them. */
export const writeCode = `
  (writer, number) => {
    if (number % 10 < 7) writer.value(number, 1)
    else if (number % 10 === 7) writer.keyed(number, 1, 'k' + number)
    else {
      const style = number % 5000 === 9 ? 300000 : number % 300
      writer.text({ kind: 'line', severity: 2, marks: 0, time: number, style }, 'x'.repeat(style))
    }
  }`

/** A program whose \`exit\` listener hands over many records, with its event loop gone, and prints what came of it. */
export const exitProgram = `${bundle}
  const { Worker } = require('node:worker_threads')
  const memory = pipe.PipeMemory.create()
  const ledger = new Int32Array(new SharedArrayBuffer(8))
  const worker = new Worker(${JSON.stringify(readerCode)}, { eval: true, workerData: { memory, ledger: ledger.buffer } })
  worker.unref()
  const writer = new pipe.PipeWriter(pipe.PipeMemory.open(memory))
  const write = ${writeCode}
  worker.once('message', () => process.exit())
  setTimeout(() => {}, 60000)
  let number = 0
  process.on('exit', () => {
    const until = Date.now() + 60000
    for (let burst = 0; burst < 50; burst++) {
      for (let left = 0; left < 1000; left++) write(writer, number++)
      writer.push(burst % 3)
    }
    const waited = writer.waits
    while (!writer.push(100) && Date.now() < until);
    for (let taken = ledger[0]; taken < number && Date.now() < until; taken = Atomics.load(ledger, 0)) {
      Atomics.wait(ledger, 0, taken, 100)
    }
    console.log(JSON.stringify({ taken: ledger[0], wrong: ledger[1], waited, waits: writer.waits }))
  })
`
