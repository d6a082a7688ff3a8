import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { parse } from 'yaml'
import { full } from '../../support/full.js'
import { ampleTime, startProgram } from '../../support/programs.js'
import { startTestReceiver, type TestReceiver } from '../../support/receiver.js'

const folder = join(import.meta.dirname, '../../../examples/docker-secrets')

let receiver: TestReceiver
let secrets: string
let file: string
beforeEach(async () => {
  receiver = await startTestReceiver()
  secrets = mkdtempSync(join(tmpdir(), 'sluice-secrets-'))
  file = join(secrets, 'sluice_api_key')
})
afterEach(async () => {
  rmSync(secrets, { recursive: true })
  await receiver.close()
})

/** Runs the program as a container does, until the receiver has so many lines. `meanwhile` is called after its start. */
async function runUntil(lines: number, meanwhile: (told: Promise<unknown>) => Promise<void> = async () => {}) {
  const { SLUICE_API_KEY: _key, ...rest } = receiver.variables
  // On a busy machine a request takes longer than 50 ms: with shorter looks there would be one under way at every moment, also at the end.
  const looks = { EVERY_MS: '500' }
  const variables = { ...rest, SLUICE_API_KEY_FILE: file, SLUICE_PROBE_BASE_MS: '50', ...looks, ...ampleTime }
  const { process: child, ended } = startProgram('../../examples/docker-secrets/worker.js', { variables })
  await meanwhile(new Promise((resolve) => child.stderr.once('data', resolve)))
  await vi.waitFor(async () => expect((await receiver.logs()).length).toBeGreaterThanOrEqual(lines), {
    timeout: 10_000,
  })
  child.kill('SIGTERM')
  return ended
}

/** Expects a line and an event for every look. */
async function expectAllLooks(): Promise<void> {
  const looks = (await receiver.logs()).map(({ message }) => Number(/"looks":(\d+)/.exec(message)?.[1]))
  expect(looks.sort((a, b) => a - b)).toEqual(looks.map((_, index) => index + 1))
  expect(await receiver.values()).toHaveLength(looks.length)
}

describe('the example docker-secrets/worker.js', () => {
  it('delivers with the key of the file, also what SIGTERM found', async () => {
    writeFileSync(file, `${receiver.apiKey}\n`)
    expect(await runUntil(3)).toEqual({ code: null, signal: 'SIGTERM', stdout: '', stderr: '' })
    await expectAllLooks()
  })

  it.runIf(full)('loses nothing while the file has an old key, and takes the new one when it is there', async () => {
    writeFileSync(file, 'old\n')
    const { signal, stderr } = await runUntil(3, async (told) => {
      await told
      writeFileSync(file, `${receiver.apiKey}\n`)
    })
    expect(signal).toBe('SIGTERM')
    expect(stderr).toContain('paused, records are kept: the key is missing or wrong (401)')
    expect(stderr).not.toContain('old')
    await expectAllLooks()
  })

  it.runIf(full)('works without the file, says which variable named it, and sends when it has come', async () => {
    const { SLUICE_API_KEY: key, ...rest } = receiver.variables
    const variables = { ...rest, SLUICE_API_KEY_FILE: file, EVERY_MS: '50' }
    const { process: worker, ended } = startProgram('../../examples/docker-secrets/worker.js', { variables })
    const [said] = await once(worker.stderr, 'data')
    expect(String(said)).toContain(`SLUICE_API_KEY_FILE (option apiKey): there is no such file: ${file}`)
    writeFileSync(file, `${key}\n`)
    await vi.waitFor(async () => expect(await receiver.logs()).not.toEqual([]), { timeout: 60_000 })
    worker.kill('SIGTERM')
    const { signal, stderr } = await ended
    expect({ signal, lines: stderr.split('\n').length }).toEqual({ signal: 'SIGTERM', lines: 3 })
    expect(stderr).toContain('sluice: on: ')
  })
})

describe('the example docker-secrets/compose.yaml', () => {
  it('names the file of the secret that it mounts, and runs what the Dockerfile copies', () => {
    const { services, secrets } = parse(readFileSync(join(folder, 'compose.yaml'), 'utf8'))
    const { environment, init, secrets: mounted } = services.worker
    expect(init).toBe(true)
    expect(mounted).toEqual(Object.keys(secrets))
    expect(environment.SLUICE_API_KEY_FILE).toBe(`/run/secrets/${mounted[0]}`)
    const dockerfile = readFileSync(join(folder, 'Dockerfile'), 'utf8')
    expect(dockerfile).toContain('COPY worker.js ./')
    expect(dockerfile).toContain('CMD ["node", "worker.js"]')
  })
})
