import { onTestFinished } from 'vitest'
import { type Running, startProgram } from '../../../../test/support/programs.js'
import type { TestReceiver } from '../../../../test/support/receiver.js'
import { cli } from '../processes.js'

/** A running `sluice-receiver logs` or `sluice-receiver values`. */
export interface Reading extends Running {
  /** Resolves when stdout and stderr together contain these words. */
  said(words: string): Promise<void>
  /** All that it has printed so far. */
  heard(): string
}

/** Starts a command of `sluice-receiver`. It is killed at the end of the test. */
export function startReading(written: readonly string[], { variables }: Pick<TestReceiver, 'variables'>): Reading {
  const running = startProgram(cli, { arguments: written, variables })
  onTestFinished(() => void running.process.kill('SIGKILL'))
  let heard = ''
  const waiting = new Set<() => void>()
  for (const stream of [running.process.stdout, running.process.stderr]) {
    stream.on('data', (piece) => {
      heard += piece
      for (const look of waiting) look()
    })
  }
  return {
    ...running,
    heard: () => heard,
    said: (words) =>
      new Promise((done) => {
        const look = () => {
          if (!heard.includes(words)) return
          waiting.delete(look)
          done()
        }
        waiting.add(look)
        look()
      }),
  }
}

/** Stores records in a receiver, one after the other. Fields that are left out have values of their own. */
export async function store(
  { url, apiKey, project }: TestReceiver,
  kind: 'logs' | 'values',
  records: readonly object[],
): Promise<void> {
  const path = kind === 'logs' ? 'logs' : 'value_tracking'
  const rest = kind === 'logs' ? { level: 'info', message: 'text' } : { eventId: 1001 }
  for (const record of records) {
    const response = await fetch(`${url}/${path}/${project}`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ timeStamp: 1_700_000_000_000, appName: 'shop', ...rest, ...record }),
    })
    if (response.status !== 201) throw new Error(`storing ${kind}: ${response.status} ${await response.text()}`)
  }
}
