import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { delivered, FaultServer } from '../../support/fault-server.js'
import { rowsOf } from '../../support/full.js'
import { startProgram } from '../../support/programs.js'

const dayMs = 86_400_000
let server: FaultServer
beforeEach(async () => {
  server = await FaultServer.start()
})
afterEach(() => server.close())

const directions = [
  { direction: 'back', jumpMs: -dayMs },
  { direction: 'forth', jumpMs: dayMs },
]

describe.each(rowsOf(['worker', 'inline'], (mode) => mode === 'worker'))('a clock that jumps, mode %s', (mode) => {
  it.each(rowsOf(directions, ({ direction }) => direction === 'forth'))(
    'a day $direction makes no wait longer or shorter',
    async ({ jumpMs }) => {
      const refused = 3
      const comeBack = { type: 'answer', status: 503, headers: { 'retry-after': '1' } } as const
      server.script = ({ number }) => (number < refused ? comeBack : delivered)
      const { ended } = startProgram('jumps.js', {
        variables: {
          SLUICE_URL: server.url,
          SLUICE_API_KEY: 'k',
          SLUICE_BUCKET: 'b',
          SLUICE_MODE: mode,
          NODE_OPTIONS: `--require ${join(import.meta.dirname, '../../fixtures/jump.cjs')}`,
          JUMP_MS: String(jumpMs),
        },
      })
      const { code, stdout, stderr } = await ended
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      const ledger = JSON.parse(stdout)
      expect(Math.abs(ledger.now - Date.now())).toBeGreaterThan(dayMs / 2)
      expect(ledger).toMatchObject({ accepted: 200, delivered: 200, ambiguousRetries: 0 })
      expect(server.requests).toHaveLength(200 + refused)
    },
  )
})
