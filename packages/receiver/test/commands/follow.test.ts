import { once } from 'node:events'
import { cpSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { full } from '../../../../test/support/full.js'
import { startProxy } from '../../../../test/support/proxy.js'
import { startTestReceiver, type TestReceiver } from '../../../../test/support/receiver.js'
import { spoolFolder } from '../../../../test/support/spool.js'
import { startReading, store } from './reading.js'

async function open(options: Parameters<typeof startTestReceiver>[0] = {}): Promise<TestReceiver> {
  const receiver = await startTestReceiver(options)
  onTestFinished(() => receiver.close())
  return receiver
}

const logged = (...messages: string[]) => messages.map((message) => ({ message }))
const printed = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split(' shop ')[1])

describe('sluice-receiver logs --follow', () => {
  it('prints the newest records, then those that arrive, and ends with 0 at a signal', async () => {
    const receiver = await open()
    await store(receiver, 'logs', logged('one', 'two', 'three'))
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      const reading = startReading(['logs', '--follow', '--lines', '2'], receiver)
      await reading.said('three')
      await store(receiver, 'logs', logged(`after ${signal}`))
      await reading.said(`after ${signal}`)
      reading.process.kill(signal)
      const { code, stdout, stderr } = await reading.ended
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(printed(stdout).slice(-3)).toEqual([expect.any(String), expect.any(String), `after ${signal}`])
    }
  })

  it.runIf(full)('prints new records that match all filters', async () => {
    const receiver = await open()
    const written = ['logs', '-f', '--json', '--level', 'warn,error', '--app', 'shop', '--text', 'écrit a-b']
    const reading = startReading(written, receiver)
    await store(receiver, 'logs', [{ message: 'ECRIT a b', level: 'warn' }])
    await reading.said('ECRIT')
    await store(receiver, 'logs', [
      { message: 'ecrit a b' },
      { message: 'ecrit a c b', level: 'warn' },
      { message: 'ecrit a b', level: 'warn', appName: 'jobs' },
      { message: 'a.b last écrit', level: 'error' },
    ])
    await reading.said('last')
    reading.process.kill('SIGINT')
    const lines = (await reading.ended).stdout.trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line).message)).toEqual(['ECRIT a b', 'a.b last écrit'])
  })

  it.runIf(full)('prints new records of a least level and of a machine, without some words', async () => {
    const receiver = await open()
    const written = ['logs', '-f', '--json', '--min-level', 'warn', '--machine', 'm-1', '--not-text', 'health']
    const reading = startReading(written, receiver)
    const line = { level: 'warn', machineName: 'm-1' }
    await store(receiver, 'logs', [{ ...line, message: 'first' }])
    await reading.said('first')
    await store(receiver, 'logs', [
      { ...line, level: 'info', message: 'low' },
      { ...line, level: 'audit', message: 'of another name' },
      { ...line, machineName: 'm-2', message: 'elsewhere' },
      { ...line, message: 'Health checked' },
      { ...line, level: 'crit', message: 'last' },
    ])
    await reading.said('last')
    reading.process.kill('SIGINT')
    const lines = (await reading.ended).stdout.trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line).message)).toEqual(['first', 'last'])
  })

  it.runIf(full)('reads the records that came faster than it has read', async () => {
    const receiver = await open()
    const reading = startReading(['logs', '--follow', '--lines', '0', '--app', 'shop'], receiver)
    await expect
      .poll(
        async () => {
          await store(receiver, 'logs', logged('begun'))
          return reading.heard()
        },
        { timeout: 10_000 },
      )
      .toContain('begun')
    // More than the buffers of a socket hold.
    reading.process.kill('SIGSTOP')
    const long = 'x'.repeat(1_000_000)
    const numbers = Array.from({ length: 30 }, (_, index) => `number ${index}.`)
    await store(receiver, 'logs', logged(...numbers.map((number) => `${number} ${long}`)))
    await store(receiver, 'logs', [{ message: 'number 31.', appName: 'jobs' }, { message: 'the last' }])
    reading.process.kill('SIGCONT')
    await reading.said('the last')
    reading.process.kill('SIGINT')
    const { code, stdout, stderr } = await reading.ended
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.match(/number \d+\./g)).toEqual(numbers)
  })

  it.runIf(full)('goes through the proxy of the environment', async () => {
    const receiver = await open()
    const { port } = new URL(receiver.url)
    const proxy = await startProxy(() => Number(port))
    onTestFinished(() => proxy.close())
    const variables = {
      ...receiver.variables,
      SLUICE_URL: 'http://service.example',
      SLUICE_ALLOW_INSECURE: 'true',
      HTTP_PROXY: proxy.url,
    }
    const reading = startReading(['logs', '--follow'], { variables })
    await store(receiver, 'logs', logged('before'))
    await reading.said('before')
    await store(receiver, 'logs', logged('streamed'))
    await reading.said('streamed')
    expect(proxy.asked).toContain('GET http://service.example/api/live?bucket=demo')
    reading.process.kill('SIGINT')
    expect(await reading.ended).toMatchObject({ code: 0, stderr: '' })
  })

  it.runIf(full)('resumes after a restart of the receiver, and prints each record once', async () => {
    const data = spoolFolder()
    const first = await open({ data })
    const { port } = new URL(first.url)
    await store(first, 'logs', logged('before'))
    const reading = startReading(['logs', '--follow'], first)
    await reading.said('before')
    await store(first, 'logs', logged('seen'))
    await reading.said('seen')
    await first.close()
    await reading.said('the connection is lost')
    const again = { data, port: Number(port), knownKey: first.apiKey }
    const second = await open(again)
    await store(second, 'logs', logged('meanwhile'))
    await reading.said('meanwhile')
    await store(second, 'logs', logged('later'))
    await reading.said('later')
    reading.process.kill('SIGINT')
    const { code, stdout, stderr } = await reading.ended
    expect(code).toBe(0)
    expect(printed(stdout)).toEqual(['before', 'seen', 'meanwhile', 'later'])
    expect(stderr).toMatch(
      /^sluice-receiver logs: the connection is lost \(.*\nsluice-receiver logs: connected again\n$/,
    )
  })

  it.runIf(full)('ends with 1 where the receiver, started anew, refuses the key', async () => {
    const first = await open()
    const reading = startReading(['logs', '--follow'], first)
    await store(first, 'logs', logged('old'))
    await reading.said('old')
    await first.close()
    await open({ port: Number(new URL(first.url).port) })
    const { code, stderr } = await reading.ended
    expect(code).toBe(1)
    expect(stderr).toContain('the API key (SLUICE_API_KEY) is missing or wrong (401)')
  })

  it.runIf(full)('begins anew where the receiver has other data', async () => {
    const [data, older] = [spoolFolder(), spoolFolder()]
    const empty = await open({ data })
    await empty.close()
    cpSync(data, older, { recursive: true })
    const knownKey = empty.apiKey
    const first = await open({ data, knownKey })
    await store(first, 'logs', logged('one', 'two'))
    const reading = startReading(['logs', '--follow'], first)
    await reading.said('two')
    await first.close()
    const second = await open({ data: older, port: Number(new URL(first.url).port), knownKey })
    await store(second, 'logs', logged('other'))
    await reading.said('other')
    expect(reading.heard()).toContain('connected again; the receiver has other data now')
  })

  it.runIf(full)('ends with 0 when the reader of its output has gone', async () => {
    const receiver = await open()
    await store(receiver, 'logs', logged('first'))
    const reading = startReading(['logs', '--follow'], receiver)
    await reading.said('first')
    reading.process.stdout.destroy()
    const exited = once(reading.process, 'exit')
    reading.ended.catch(() => {})
    await store(receiver, 'logs', logged('unread'))
    expect(await exited).toEqual([0, null])
  })
})
