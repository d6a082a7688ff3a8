import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSluice, type Sluice } from 'sluice'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { delivered, FaultServer } from '../../support/fault-server.js'
import { rowsOf } from '../../support/full.js'

let folder: string
let file: string
let server: FaultServer
let sluice: Sluice
let valid: string
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-key-'))
  file = join(folder, 'key')
  writeFileSync(file, 'first\n')
  valid = 'first'
  server = await FaultServer.start(({ headers }) =>
    headers.get('x-api-key') === valid ? delivered : { type: 'answer', status: 401 },
  )
  process.env.SLUICE_API_KEY_FILE = file
})
afterEach(async () => {
  delete process.env.SLUICE_API_KEY_FILE
  await sluice.close({ timeoutMs: 0 })
  await server.close()
  rmSync(folder, { recursive: true })
})

const modes = ['worker', 'inline'] as const
const all = modes.flatMap((mode) => (['auto', 'off'] as const).map((pipelining) => ({ mode, pipelining })))

describe.each(rowsOf(all, ({ mode, pipelining }) => mode === 'worker' && pipelining === 'auto'))(
  'a key in a file, mode $mode, pipelining $pipelining',
  ({ mode, pipelining }) => {
    it('may be replaced while records flow: the new one is read, and nothing waits', async () => {
      sluice = createSluice({ url: server.url, bucket: 'b', mode, pipelining, retryBaseMs: 10 })
      for (let event = 0; event < 100; event++) sluice.track(event)
      const { lanes } = await sluice.flush()
      expect(lanes.map(({ sender }) => sender)).toContain(pipelining === 'auto' ? 'pipelined' : 'undici')
      valid = 'second'
      writeFileSync(file, 'second\n')
      for (let event = 100; event < 200; event++) sluice.track(event)
      expect(await sluice.flush()).toMatchObject({ accepted: 200, delivered: 200 })
      expect(server.taken).toHaveLength(200)
    })

    it('is read again under a relative path, though the application has changed its working directory', async () => {
      const before = process.cwd()
      onTestFinished(() => process.chdir(before))
      process.env.SLUICE_API_KEY_FILE = 'key'
      process.chdir(folder)
      sluice = createSluice({ url: server.url, bucket: 'b', mode, pipelining, retryBaseMs: 10 })
      process.chdir(tmpdir())
      valid = 'second'
      writeFileSync(file, 'second\n')
      sluice.track(1)
      expect(await sluice.flush()).toMatchObject({ accepted: 1, delivered: 1 })
    })

    it('is read again by the next probe when the old one was refused first', async () => {
      valid = 'second'
      const told: string[] = []
      sluice = createSluice({
        url: server.url,
        bucket: 'b',
        mode,
        pipelining,
        onError: ({ message }) => told.push(message),
      })
      sluice.track(1)
      expect(await sluice.flush()).toMatchObject({ delivered: 0, queued: 1 })
      expect(told.join()).toContain('the key is missing or wrong (401)')
      writeFileSync(file, 'second\n')
      expect(await sluice.flush()).toMatchObject({ delivered: 1, queued: 0 })
      expect(server.requests.map(({ headers }) => headers.get('x-api-key'))).toEqual(['first', 'second'])
    })
  },
)
