import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { FaultServer } from '../../../../test/support/fault-server.js'
import { full } from '../../../../test/support/full.js'
import { startTestReceiver } from '../../../../test/support/receiver.js'
import { folderHere, pinoText, startShip } from '../support/shipping.js'

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

describe('sluice-tools ship of files', () => {
  it('ships each of them, names those that it cannot read, and then ends with 1', async () => {
    const receiver = await receiverHere()
    const folder = folderHere()
    const [a, b, missing, sub] = ['a.log', 'b.log', 'missing.log', 'sub'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
      string,
    ]
    writeFileSync(a, 'one\ntwo')
    writeFileSync(b, pinoText('three'))
    mkdirSync(sub)
    const { code, stdout, stderr } = await startShip([a, missing, sub, b], receiver).ended
    expect([code, stdout.length]).toEqual([1, 0])
    expect(stderr).toBe(
      `sluice-tools ship: there is no such file: ${missing}\nsluice-tools ship: ${sub} is a folder, not a file\n3 of 3 records delivered\nnot read to the end: ${missing}, ${sub}\n`,
    )
    expect((await receiver.logs()).map(({ message }) => message).sort()).toEqual([
      'one',
      'three {"hostname":"elsewhere"}',
      'two',
    ])
  })

  it.runIf(full)('stops reading while the queue is full, so that it loses no line of a larger file', async () => {
    const { server, variables } = await serverHere()
    const file = join(folderHere(), 'large.log')
    writeFileSync(file, Array.from({ length: 20_000 }, (_, number) => pinoText(`line ${number}`)).join(''))
    const shipping = startShip(['--json', file], {
      variables: { ...variables, SLUICE_MAX_QUEUE_RECORDS: '50', SLUICE_MAX_QUEUE_BYTES: '8192' },
    })
    const { code, stdout } = await shipping.ended
    expect(code).toBe(0)
    expect(JSON.parse(stdout.toString())).toMatchObject({ records: 20_000, delivered: 20_000, dropped: {} })
    const taken = new Set(server.taken.map((body) => (JSON.parse(body) as { message: string }).message))
    expect(taken.size).toBe(20_000)
  })

  it.runIf(full)('stops when the key is wrong, and leaves the rest in the file', async () => {
    const receiver = await receiverHere()
    const file = join(folderHere(), 'large.log')
    writeFileSync(file, pinoText('x').repeat(20_000))
    const variables = { ...receiver.variables, SLUICE_API_KEY: 'another', SLUICE_MAX_QUEUE_RECORDS: '100' }
    const { code, stderr } = await startShip([file], { variables }).ended
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^0 of (\d+) records delivered\n\1 dropped: \1 × not delivered before the end\nnot read to the end: .*\nstopped: the key is missing or wrong/,
    )
    expect(Number(/of (\d+)/.exec(stderr)?.[1])).toBeLessThanOrEqual(100)
  })

  it.runIf(full)(
    'ends with 1 when it is interrupted within a file, after the answers to the records that it has taken',
    async () => {
      const { server, variables } = await serverHere(
        (): { type: 'answer'; status: number; body: string; afterMs: number } => ({
          type: 'answer',
          status: 201,
          body: '{"result":true}',
          afterMs: 20,
        }),
      )
      const file = join(folderHere(), 'large.log')
      writeFileSync(file, pinoText('x').repeat(50_000))
      const shipping = startShip([file], { variables: { ...variables, SLUICE_MAX_QUEUE_RECORDS: '10' } })
      await server.arrived(20)
      shipping.process.kill('SIGINT')
      const { code, stderr } = await shipping.ended
      expect(code).toBe(1)
      expect(stderr).toMatch(
        /\n(\d+) of \1 records delivered\nnot read to the end: .*\nstopped: interrupted by SIGINT\n$/,
      )
    },
  )

  it('keeps records in the spool that cannot be delivered, and ends with 0', async () => {
    const { server, variables } = await serverHere(() => ({ type: 'answer', status: 503 }))
    const folder = folderHere()
    const arrived = server.arrived(1)
    const setting = {
      variables: { ...variables, SLUICE_SPOOL_DIR: join(folder, 'spool'), SLUICE_SHUTDOWN_TIMEOUT_MS: '100' },
    }
    const shipping = startShip(['-'], setting)
    shipping.process.stdin.write('a\nb\n')
    await arrived
    shipping.process.kill('SIGTERM')
    const { code, stderr } = await shipping.ended
    expect([code, stderr]).toEqual([0, expect.stringContaining('2 in the spool: ')])
    server.script = () => ({ type: 'answer', status: 201, body: '{"result":true}' })
    const replay = spawn(
      process.execPath,
      [join(import.meta.dirname, '../../../../dist/cli.js'), 'replay', join(folder, 'spool')],
      {
        env: { ...process.env, ...variables },
        stdio: 'ignore',
      },
    )
    expect(await new Promise((resolve) => replay.once('exit', resolve))).toBe(0)
    expect(server.taken).toHaveLength(2)
  })

  it.runIf(full)('reads a named pipe', async () => {
    const receiver = await receiverHere()
    const pipe = join(folderHere(), 'pipe')
    execFileSync('mkfifo', [pipe])
    const shipping = startShip([pipe], receiver)
    writeFileSync(pipe, 'through a pipe\n')
    expect(await shipping.ended).toMatchObject({ code: 0, stderr: '1 of 1 record delivered\n' })
  })

  it.runIf(full).each<[string[], string]>([
    [['--follow'], '--follow: expected a FILE, got none'],
    [['--from-end', 'a'], '--from-end: expected together with --follow'],
    [['a', 'a'], 'FILE: expected each file once, got a twice'],
    [['--quite'], 'unknown option --quite; did you mean --quiet?'],
  ])('called with %j ends with 2 and says: %s', async (written, words) => {
    const { code, stdout, stderr } = await startShip(written, { variables: {} }).ended
    expect([code, stdout.length]).toEqual([2, 0])
    expect(stderr).toContain(words)
  })
})
