import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { knownVariables } from '../../../src/options/variables.js'
import { ExampleServer } from '../../support/example-server.js'
import { type Fault, FaultServer } from '../../support/fault-server.js'
import { full } from '../../support/full.js'
import { startTestReceiver } from '../../support/receiver.js'

const folder = join(import.meta.dirname, '../../../examples/kubernetes')
/** Additional time for the end on a busy machine. */
const spareMs = 5500

/** Ends the server by SIGTERM with an order under way. Returns how it ended and how long that took. */
async function endWithOrder(variables: Record<string, string>, { finish = true } = {}) {
  const server = await ExampleServer.start('kubernetes/server.js', variables)
  expect(await server.ask('GET', '/healthz')).toEqual({ status: 200, body: '{"status":"ok"}' })
  expect(await server.ask('POST', '/orders', { id: 1 })).toMatchObject({ status: 201 })
  const order = await server.begin({ id: 2 })
  const startedAt = performance.now()
  await server.terminate()
  if (finish) expect(await order.finish()).toEqual({ status: 201, body: '{"id":2}' })
  else await order.cutOff
  const ended = await server.ended
  return { ...ended, ms: performance.now() - startedAt }
}

/** A service with this answer to every request. */
async function faulty(script: () => Fault) {
  const service = await FaultServer.start(script)
  onTestFinished(() => service.close())
  return { service, variables: { SLUICE_URL: service.url, SLUICE_API_KEY: 'k', SLUICE_BUCKET: 'b' } }
}

describe('the example kubernetes/server.js', () => {
  it('stops listening, answers what it has, and delivers', async () => {
    const receiver = await startTestReceiver()
    onTestFinished(() => receiver.close())
    const ended = await endWithOrder(receiver.variables)
    expect(ended).toMatchObject({ code: 0, signal: null, stdout: '', stderr: '' })
    expect(ended.ms).toBeLessThan(spareMs)
    const lines = (await receiver.logs()).map(({ message }) => message)
    for (const line of ['"order":{"id":2}', 'stopping', 'stopped']) {
      expect(lines).toContainEqual(expect.stringContaining(line))
    }
    expect(lines.filter((line) => line.includes('/healthz'))).toEqual([])
    expect(await receiver.values()).toHaveLength(2)
  })

  it.runIf(full)('delivers to a service that takes half a second for each answer', async () => {
    const answer = { type: 'answer', status: 201, body: '{"result":true}', afterMs: 500 } as const
    const { service, variables } = await faulty(() => answer)
    const ended = await endWithOrder(variables)
    expect(ended).toMatchObject({ code: 0, signal: null, stderr: '' })
    expect(service.taken.filter((body) => body.includes('"eventId"'))).toHaveLength(2)
    expect(service.taken).toContainEqual(expect.stringContaining('"message":"stopped"'))
  })

  it.runIf(full).each([
    ['does not answer', { type: 'silence' }],
    ['hangs up', { type: 'reset-before-answer' }],
  ] as const)(
    'ends in time, with status 0, and says what it could not deliver, where the service %s',
    async (_, fault) => {
      const { variables } = await faulty(() => fault)
      const ended = await endWithOrder({ ...variables, SLUICE_SHUTDOWN_TIMEOUT_MS: '2000' })
      expect(ended).toMatchObject({ code: 0, signal: null })
      expect(ended.ms).toBeLessThan(2000 + spareMs)
      // A worker that answers after the deadline drops nothing by then: the exit reports its records in one line.
      expect(ended.stderr).toMatch(/^sluice: (\d+ log records dropped \(shutdown\)|\d+ records not delivered)/m)
      expect(ended.stderr).toMatch(/^sluice: (2 value records dropped \(shutdown\)|\d+ records not delivered)/m)
    },
  )

  it.runIf(full)('cuts off a client that does not finish its request, and says so', async () => {
    const receiver = await startTestReceiver()
    onTestFinished(() => receiver.close())
    const ended = await endWithOrder({ ...receiver.variables, DRAIN_SECONDS: '0.5' }, { finish: false })
    expect(ended).toMatchObject({ code: 0, signal: null, stderr: '' })
    expect(ended.ms).toBeLessThan(500 + spareMs)
    const lines = (await receiver.logs()).map(({ message }) => message)
    expect(lines).toContain('requests that do not end are cut off')
    expect(lines).toContainEqual(expect.stringMatching(/^aborted /))
    expect(await receiver.values()).toHaveLength(1)
  })
})

describe('the example kubernetes/deployment.yaml', () => {
  const { spec } = parse(readFileSync(join(folder, 'deployment.yaml'), 'utf8')).spec.template
  const [container] = spec.containers
  const variables: Record<string, string> = Object.fromEntries(
    container.env.map(({ name, value }: { name: string; value: string }) => [name, value]),
  )

  it('leaves time for all that comes before SIGKILL', () => {
    const drainSeconds = Number(variables.DRAIN_SECONDS) + Number(variables.SLUICE_SHUTDOWN_TIMEOUT_MS) / 1000
    const needed = container.lifecycle.preStop.sleep.seconds + drainSeconds
    expect(needed).toBeLessThan(spec.terminationGracePeriodSeconds)
  })

  it('sets variables that there are, and mounts the key where they say', () => {
    for (const name of Object.keys(variables)) if (name.startsWith('SLUICE_')) expect(knownVariables).toContain(name)
    const [{ mountPath }] = container.volumeMounts
    expect(variables.SLUICE_API_KEY_FILE).toBe(`${mountPath}/api-key`)
  })

  it('runs what its Dockerfile copies, without a shell between', () => {
    const dockerfile = readFileSync(join(folder, 'Dockerfile'), 'utf8')
    expect(dockerfile).toContain('COPY server.js ./')
    expect(dockerfile).toContain('CMD ["node", "server.js"]')
  })
})
