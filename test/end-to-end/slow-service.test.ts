import { SluiceTransport } from 'sluice/winston'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import winston from 'winston'
import { delivered, FaultServer } from '../faults/fault-server.js'
import { runProgram } from '../support/programs.js'

const slowly = { ...delivered, afterMs: 100 } as const
const destination = (server: FaultServer) => ({ url: server.url, apiKey: 'k', bucket: 'b' })
const variables = (server: FaultServer) => ({ SLUICE_URL: server.url, SLUICE_API_KEY: 'k', SLUICE_BUCKET: 'b' })

const ends = [
  { end: 'exit 3', code: 3, signal: null },
  { end: 'SIGTERM', code: null, signal: 'SIGTERM' },
  { end: 'natural', code: 0, signal: null },
  { end: 'exit 0', code: 0, signal: null },
  { end: 'exception', code: 1, signal: null },
  { end: 'rejection', code: 1, signal: null },
]

// What the ends have to do with the time that an answer takes is the same for all that do not wait: the others are in test:full.
describe.each(process.env.FULL === undefined ? ends.slice(0, 2) : ends)(
  'a service that takes 100 ms for each answer: $end, right after a thousand records',
  ({ end, ...status }) => {
    it.concurrent.each(['pino', 'sluicePino', 'winston', 'track'])(
      '%s: all are delivered, status and stderr are as without Sluice',
      async (way) => {
        const server = await FaultServer.start(() => slowly)
        const without = await runProgram('exits.js', { WAY: way, END: end, SLUICE_DISABLED: 'true' })
        const ended = await runProgram('exits.js', {
          WAY: way,
          END: end,
          // A bare pino target does not see signals.
          ...(way === 'pino' && end === 'SIGTERM' ? { NODE_OPTIONS: '--import sluice/register' } : {}),
          ...variables(server),
        })
        await server.close()
        expect(ended).toEqual({ ...without, ...status })
        expect(new Set(server.taken).size).toBe(1000)
        expect(server.taken).toHaveLength(1000)
      },
    )
  },
)
