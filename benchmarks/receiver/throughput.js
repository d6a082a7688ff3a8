import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { median } from '../support/per-call.js'
import { startReceiverProcess } from '../support/receiver-process.js'
import { recordsPerSecond } from '../support/record-load.js'

// Records that the receiver acknowledges per second, each on disk by then, against fastify with the same schema and no store.
const rounds = Number(process.env.ROUNDS ?? 5)
const durationMs = 1500
const loads = {
  '1 connection': { connections: 1, depth: 1 },
  '8 connections': { connections: 8, depth: 1 },
  '64 connections': { connections: 64, depth: 1 },
  '8 connections, 64 pipelined on each': { connections: 8, depth: 64 },
}

const data = mkdtempSync(join(tmpdir(), 'sluice-benchmark-'))
const receiver = await startReceiverProcess(['--json', '--port', '0', '--data', data])
const bare = await startReceiverProcess(
  [],
  fileURLToPath(new URL('../support/fastify-without-store.js', import.meta.url)),
)

process.stdout.write(
  `  ${'records/s'.padEnd(38)}${'no store'.padStart(10)}${'receiver'.padStart(10)}${'ratio'.padStart(7)}   (budget ≥ 0.6 at 64)\n`,
)
for (const [name, load] of Object.entries(loads)) {
  /** @type {{ without: number, stored: number, ratio: number }[]} */
  const results = []
  for (let round = -1; round < rounds; round++) {
    const without = await recordsPerSecond(bare, { ...load, durationMs })
    const stored = await recordsPerSecond(receiver, { ...load, durationMs })
    if (round >= 0) results.push({ without, stored, ratio: stored / without })
  }
  const figure = (/** @type {'without' | 'stored' | 'ratio'} */ key) => median(results.map((result) => result[key]))
  process.stdout.write(
    `  ${name.padEnd(38)}${figure('without').toFixed(0).padStart(10)}${figure('stored').toFixed(0).padStart(10)}${figure('ratio').toFixed(2).padStart(7)}\n`,
  )
}

await Promise.all([receiver.stop(), bare.stop()])
rmSync(data, { recursive: true })
