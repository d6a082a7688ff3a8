import pino from 'pino'
import { createSluice, rejections } from 'sluice'
import { sluicePino } from 'sluice/pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FaultServer } from '../../support/fault-server.js'
import { full } from '../../support/full.js'
import { ampleTime, runProgram } from '../../support/programs.js'

let server: FaultServer
beforeEach(async () => {
  server = await FaultServer.start()
  server.script = ({ body }) => ({
    type: 'answer',
    status: 400,
    body: JSON.stringify({ validationErrors: [{ name: 'field', attemptedValue: body.length, message: 'odd' }] }),
  })
})
afterEach(() => server.close())

const run = (program: string) =>
  runProgram(program, { ...ampleTime, SLUICE_URL: server.url, SLUICE_API_KEY: 'k', SLUICE_BUCKET: 'b' })

describe('rejections()', () => {
  it('gives the rejected records of every logger and of track, pino’s workers included', async () => {
    const { code, stdout } = await run('print-rejections.js')
    expect(code).toBe(0)
    const { all, own } = JSON.parse(stdout) as Record<string, ReturnType<typeof rejections>>
    const records = all!.map(({ kind, bucket, record }) => [kind, bucket, JSON.parse(record)])
    expect(records).toHaveLength(5)
    expect(records).toEqual(
      expect.arrayContaining([
        ['logs', 'b', expect.objectContaining({ message: 'line 4' })],
        ['logs', 'b', expect.objectContaining({ message: 'line 10' })],
        ['logs', 'b', expect.objectContaining({ message: 'line 7' })],
        ['values', 'b', expect.objectContaining({ eventId: 7 })],
        ['values', 'other', expect.objectContaining({ eventId: 8 })],
      ]),
    )
    const times = all!.map(({ at }) => at)
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    expect(own).toEqual(all!.filter(({ bucket }) => bucket === 'other'))
  })

  it.runIf(full)('costs a thread that reads no messages one message, and it sees all of them', async () => {
    const { code, stdout } = await run('thread-reads-nothing.js')
    expect({ code, ...JSON.parse(stdout) }).toEqual({ code: 0, rejected: 100, kept: expect.any(Number), seen: 100 })
    expect(JSON.parse(stdout).kept).toBeLessThan(5)
  })

  it('keeps those of a worker of pino that has ended', async () => {
    const { code, stdout } = await run('pino-end-rejected.js')
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject([{ kind: 'logs', record: expect.stringContaining('"the last line"') }])
  })

  it.each(['worker', 'inline'] as const)(
    'holds the last 100 and the beginning of a long record, mode %s',
    async (mode) => {
      const destination = { url: server.url, apiKey: 'k', bucket: mode, mode, onError() {} }
      const sluice = createSluice(destination)
      const startedAt = Date.now()
      for (let event = 1; event <= 150; event++) sluice.track(event)
      await sluice.flush()
      const held = sluice.rejections()
      expect(held).toHaveLength(100)
      expect(rejections()).toEqual(held)
      const [newest] = held.slice(-1)
      expect(newest).toMatchObject({
        kind: 'values',
        bucket: mode,
        status: 400,
        reason: expect.stringContaining('field: odd'),
        validationErrors: [{ name: 'field' }],
      })
      expect(newest!.at).toBeGreaterThanOrEqual(startedAt)
      const logger = pino(sluicePino(destination))
      logger.info('x'.repeat(10_000))
      await sluice.flush()
      expect(rejections()).toHaveLength(100)
      expect(rejections().at(-1)!.record).toMatch(/^\{"timeStamp":.*x{3000,}$/)
      expect(rejections().at(-1)!.record).toHaveLength(4096)
      await sluice.close()
    },
  )
})
