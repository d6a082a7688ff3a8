import { once } from 'node:events'
import { describe, expect, it, onTestFinished } from 'vitest'
import { FaultServer } from '../../../../test/support/fault-server.js'
import { full, rowsOf } from '../../../../test/support/full.js'
import { startTestReceiver } from '../../../../test/support/receiver.js'
import { pinoText, startShip } from '../support/shipping.js'

const receiverHere = async () => {
  const receiver = await startTestReceiver()
  onTestFinished(() => receiver.close())
  return receiver
}
const serverHere = async (script?: Parameters<typeof FaultServer.start>[0]) => {
  const server = await FaultServer.start(script)
  onTestFinished(() => server.close())
  return { server, variables: { SLUICE_URL: server.url, SLUICE_API_KEY: 'k', SLUICE_BUCKET: 'b' } }
}
const messages = async (receiver: { logs(): Promise<{ message: string }[]> }) =>
  (await receiver.logs()).map(({ message }) => message).sort()

describe('sluice-tools ship of a pipe', () => {
  it('delivers each line by its own format, and passes every byte on', async () => {
    const receiver = await receiverHere()
    const shipping = startShip([], receiver)
    const junk = Buffer.from([0xff, 0xfe, 0x00, 0x80, 0x0a])
    const input = Buffer.concat([
      Buffer.from(
        `\ufeff${pinoText('of pino')}\r\n\n{"level":"warn","message":"of winston","timestamp":"2024-05-01T12:00:00Z"}\r\n`,
      ),
      junk,
      Buffer.from('plain, without an end'),
    ])
    shipping.process.stdin.end(input)
    const { code, stdout, stderr } = await shipping.ended
    expect({ code, stderr }).toEqual({ code: 0, stderr: '4 of 4 records delivered\n' })
    expect(stdout.equals(input)).toBe(true)
    expect((await receiver.logs()).map(({ level, message, timeStamp }) => ({ level, message, timeStamp }))).toEqual(
      expect.arrayContaining([
        { level: 'info', message: 'of pino {"hostname":"elsewhere"}', timeStamp: 1_700_000_000_000 },
        { level: 'warn', message: 'of winston', timeStamp: Date.UTC(2024, 4, 1, 12) },
        { level: 'info', message: '\ufffd\ufffd\0\ufffd', timeStamp: expect.any(Number) },
        { level: 'info', message: 'plain, without an end', timeStamp: expect.any(Number) },
      ]),
    )
  })

  it.runIf(full)('passes nothing on with --quiet, and with --json nothing but the summary', async () => {
    const receiver = await receiverHere()
    for (const option of ['--quiet', '--json']) {
      const shipping = startShip([option], receiver)
      shipping.process.stdin.end('a\nb\n')
      const { code, stdout, stderr } = await shipping.ended
      expect(code).toBe(0)
      if (option === '--quiet') expect([stdout.length, stderr]).toEqual([0, '2 of 2 records delivered\n'])
      else expect(JSON.parse(stdout.toString())).toMatchObject({ ok: true, lines: 2, delivered: 2, dropped: {} })
    }
  })

  it('loses nothing, and prints nothing, when the reader of its stdout goes away', async () => {
    const receiver = await receiverHere()
    const shipping = startShip([], { ...receiver, unread: true })
    shipping.process.stdin.write('first\n')
    await once(shipping.process.stdout, 'data')
    shipping.process.stdout.destroy()
    for (let count = 0; count < 5000; count++) shipping.process.stdin.write(`line ${count} ${'x'.repeat(100)}\n`)
    shipping.process.stdin.end()
    expect(await shipping.ended).toMatchObject({ code: 0, stderr: '5001 of 5001 records delivered\n' })
    expect(await receiver.logs()).toHaveLength(5001)
  })

  it.runIf(full)(
    'delivers what it has read, and ends at a signal, when the reader of its stdout stands still',
    async () => {
      const receiver = await receiverHere()
      const shipping = startShip([], { ...receiver, unread: true })
      // More than the buffers between the processes hold.
      shipping.process.stdin.write(`${'x'.repeat(999)}\n`.repeat(8000))
      await expect.poll(async () => (await receiver.logs()).length, { timeout: 10_000 }).toBeGreaterThan(50)
      shipping.process.kill('SIGTERM')
      const { code, stderr } = await shipping.ended
      expect(code).toBe(0)
      const delivered = Number(/(\d+) of \1 records delivered/.exec(stderr)?.[1])
      expect(delivered).toBeLessThan(8000)
      expect(await receiver.logs()).toHaveLength(delivered)
    },
  )

  it.each(rowsOf(['SIGTERM', 'SIGINT'] as const, (signal) => signal === 'SIGTERM'))(
    'on %s reads the last lines of the program before it, and ends with 0',
    async (signal) => {
      const receiver = await receiverHere()
      const shipping = startShip(['--quiet'], receiver)
      shipping.process.stdin.write('before\n')
      await expect.poll(() => messages(receiver), { timeout: 10_000 }).toEqual(['before'])
      shipping.process.kill(signal)
      await shipping.said(`${signal}: waits`)
      shipping.process.stdin.write('last words\nwithout end')
      const { code } = await shipping.ended
      expect(code).toBe(0)
      expect(await messages(receiver)).toEqual(['before', 'last words', 'without end'])
    },
  )

  it.runIf(full)('ends at once at the second signal', async () => {
    const { server, variables } = await serverHere(() => ({ type: 'silence' }))
    const shipping = startShip(['--quiet'], { variables })
    const arrived = server.arrived(1)
    shipping.process.stdin.write('a\n')
    await arrived
    shipping.process.kill('SIGINT')
    await shipping.said('SIGINT: waits')
    shipping.process.kill('SIGINT')
    expect(await shipping.ended).toMatchObject({ code: null, signal: 'SIGINT' })
  })

  it.runIf(full)('makes the writer wait when the queue is full, and drops nothing', async () => {
    let open = false
    const { server, variables } = await serverHere(() =>
      open ? { type: 'answer', status: 201, body: '{"result":true}' } : { type: 'answer', status: 503 },
    )
    const shipping = startShip(['--quiet'], {
      variables: {
        ...variables,
        SLUICE_MAX_QUEUE_RECORDS: '10',
        SLUICE_RETRY_BASE_MS: '20',
        SLUICE_RETRY_CAP_MS: '50',
      },
    })
    const { stdin } = shipping.process
    const line = `${'x'.repeat(1000)}\n`
    let lines = 0
    do lines++
    while (stdin.write(line) || stdin.writableLength < 500_000)
    await server.arrived(20)
    // The pipe and the buffers of two programs are full: the rest waits here.
    expect(stdin.writableLength).toBeGreaterThan(100_000)
    open = true
    stdin.end()
    expect(await shipping.ended).toMatchObject({ code: 0, stderr: `${lines} of ${lines} records delivered\n` })
    expect(server.taken).toHaveLength(lines)
  })

  it.runIf(full)('keeps nothing of settled records in memory', async () => {
    const { variables } = await serverHere()
    const shipping = startShip(['--quiet'], {
      variables: {
        ...variables,
        NODE_OPTIONS: `--import ${import.meta.dirname}/../../../../test/fixtures/print-peak-memory.js`,
      },
    })
    const piece = Buffer.alloc(1_048_576, `${' '.repeat(1023)}\n`)
    for (let count = 0; count < 400; count++) {
      if (!shipping.process.stdin.write(piece)) await once(shipping.process.stdin, 'drain')
    }
    shipping.process.stdin.end('last\n')
    const { code, stderr } = await shipping.ended
    expect(code).toBe(0)
    expect(stderr).toContain('1 of 1 record delivered')
    expect(Number(/peak memory (\d+) MiB/.exec(stderr)?.[1])).toBeLessThan(350)
  })

  it.runIf(full)('ends with 1 and the reasons when records are rejected', async () => {
    const body = JSON.stringify({ validationErrors: [{ name: 'message', message: 'too rude' }] })
    const { variables } = await serverHere(({ body: record }) =>
      record.includes('rude')
        ? { type: 'answer', status: 400, body }
        : { type: 'answer', status: 201, body: '{"result":true}' },
    )
    const shipping = startShip(['--quiet'], { variables })
    shipping.process.stdin.end('polite\nrude\nrude again\n')
    const { code, stderr } = await shipping.ended
    expect(code).toBe(1)
    expect(stderr).toContain(
      '1 of 3 records delivered\n2 rejected:\n  2 × the service refused the record (400): message: too rude\n',
    )
  })

  it.runIf(full)('gives up at the end of the pipe, with 1 and the reason, when the key is wrong', async () => {
    const receiver = await receiverHere()
    const shipping = startShip([], { variables: { ...receiver.variables, SLUICE_API_KEY: 'another' } })
    shipping.process.stdin.end('a\n')
    const { code, stdout, stderr } = await shipping.ended
    expect([code, stdout.toString()]).toEqual([1, 'a\n'])
    expect(stderr).toMatch(/1 dropped: 1 × not delivered before the end\nstopped: the key is missing or wrong \(401\)/)
  })

  it.runIf(full)('leaves out what is below SLUICE_LEVEL', async () => {
    const receiver = await receiverHere()
    const shipping = startShip(['--quiet'], { variables: { ...receiver.variables, SLUICE_LEVEL: 'warn' } })
    shipping.process.stdin.end(`${pinoText('quiet')}{"level":"error","message":"loud"}\n`)
    const { code, stderr } = await shipping.ended
    expect([code, stderr]).toEqual([0, '1 of 1 record delivered\n1 left out: below SLUICE_LEVEL\n'])
    expect(await messages(receiver)).toEqual(['loud'])
  })

  it.runIf(full)('passes bytes on when Sluice is disabled, and ends with 2 when nothing is configured', async () => {
    const disabled = startShip([], { variables: { SLUICE_DISABLED: '1' } })
    disabled.process.stdin.end('a\nb')
    expect(await disabled.ended).toMatchObject({ code: 0, stdout: Buffer.from('a\nb'), stderr: '' })

    for (const written of [['--quiet'], ['--json']]) {
      const swallowing = startShip(written, { variables: { SLUICE_DISABLED: '1' } })
      // More than a pipe holds, so the program must read it.
      await new Promise<void>((done) => swallowing.process.stdin.end('a\n'.repeat(200_000), done))
      const { code, stdout, stderr } = await swallowing.ended
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      if (written.includes('--json')) expect(JSON.parse(String(stdout))).toMatchObject({ ok: true, disabled: true })
      else expect(String(stdout)).toBe('')
    }
    const ofFile = await startShip(['any.log'], { variables: { SLUICE_DISABLED: '1' } }).ended
    expect(ofFile).toMatchObject({ code: 0, stderr: 'sluice-tools ship: Sluice is disabled: nothing is shipped\n' })
    const bare = await startShip([], { variables: {} }).ended
    expect(bare).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('set SLUICE_URL, SLUICE_API_KEY and SLUICE_BUCKET'),
    })
  })
})
