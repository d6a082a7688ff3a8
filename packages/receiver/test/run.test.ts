import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { full } from '../../../test/support/full.js'
import { dataFolder } from './data-folder.js'
import { cli, killAll, quiet, ready } from './processes.js'
import { caller } from './support.js'

const data = dataFolder()
afterEach(killAll)

const application = join(import.meta.dirname, 'fixtures/application.js')

interface Setting {
  readonly options?: readonly string[]
  readonly variables?: Record<string, string>
  readonly folder?: string
}

/** Runs a program of Node by `sluice-receiver run`. */
function run(program: readonly string[], { options = ['--data', data.path], variables = {}, folder }: Setting = {}) {
  const { SLUICE_URL: _, SLUICE_API_KEY: __, SLUICE_BUCKET: ___, ...env } = process.env
  const args = [quiet, cli, 'run', ...options, '--', process.execPath, ...program]
  const child = spawn(process.execPath, args, { env: { ...env, ...variables }, cwd: folder })
  onTestFinished(() => void child.kill('SIGKILL'))
  const exit = once(child, 'exit') as Promise<[number | null, string | null]>
  return { child, exit, stdout: text(child.stdout), stderr: text(child.stderr) }
}

/** The messages in the data folder. */
async function messages(): Promise<string[]> {
  const { url, apiKey } = await ready('--data', data.path, '--new-key')
  const { body } = await caller({ url, apiKey })('GET', '/api/logs/demo')
  return body.list.map(({ message }: { message: string }) => message)
}

/** A line of a child that has begun. */
async function firstLine(stream: NodeJS.ReadableStream): Promise<string> {
  const [chunk] = (await once(stream, 'data')) as [Buffer]
  return chunk.toString()
}

/** The first text of a child that matches. */
function heard(stream: NodeJS.ReadableStream, words: RegExp): Promise<RegExpExecArray> {
  let said = ''
  return new Promise((resolve) =>
    stream.on('data', (piece) => {
      said += piece
      const found = words.exec(said)
      if (found !== null) resolve(found)
    }),
  )
}

describe('sluice-receiver run', () => {
  it('stores the records of a program that knows nothing of it, passes its output, and ends with its status', async () => {
    const { exit, stdout, stderr } = run([application, 'status', '3'])
    expect(await exit).toEqual([3, null])
    expect(await stdout).toBe('the application runs\n')
    expect(await stderr).toMatch(
      /^sluice-receiver: see the records arrive \(the address opens one browser\): http:\/\/127\.0\.0\.1:\d+\/\?token=\S+\nsluice-receiver: 1 record is in \S+; `npx sluice-receiver --data \S+` shows it\n$/,
    )
    expect(await stderr).toContain(
      `: 1 record is in ${data.path}; \`npx sluice-receiver --data ${data.path}\` shows it\n`,
    )
    expect(await messages()).toEqual(['the application runs'])
  })

  it('says how many records are in the folder of the working directory, and what shows them', async () => {
    const program =
      "const send = (path, body) => fetch(process.env.SLUICE_URL + path + '/demo', { method: 'POST', body: JSON.stringify(body), headers: { 'x-api-key': process.env.SLUICE_API_KEY, 'content-type': 'application/json' } }); await send('/logs', { timeStamp: 1, level: 'info', message: 'a', appName: 'b' }); await send('/value_tracking', { timeStamp: 1, eventId: 1, appName: 'b' })"
    const lastLines = async (options: string[], code: string) => {
      const { exit, stderr } = run(['--input-type=module', '-e', code], { options, folder: data.path })
      expect(await exit).toEqual([0, null])
      return (await stderr).trimEnd().split('\n').at(-1)
    }
    expect(await lastLines([], program)).toBe(
      'sluice-receiver: 2 records are in ./sluice-data; `npx sluice-receiver` shows them',
    )
    expect(await lastLines(['--data', "a 'b"], '')).toMatch(
      /: 0 records are in \.\/a 'b; the program has sent none: npx sluice doctor/,
    )
    expect(await lastLines(['--data', ':memory:'], program)).toMatch(/: 2 records were in memory, and are gone/)
  })

  it('keeps the receiver with --stay until Ctrl-C, and then ends with the status of the program', async () => {
    const { child, exit, stderr } = run([application, 'status', '3'], { options: ['--data', data.path, '--stay'] })
    const [, url] = await heard(child.stderr, /the program has ended; the receiver stays at (\S+) until Ctrl-C/)
    expect((await fetch(`${url}/api/health`)).status).toBe(200)
    child.kill('SIGINT')
    expect(await exit).toEqual([3, null])
    expect(await stderr).toMatch(/: 1 record is in [^\n]+\n$/)
  })

  it.runIf(full)('ends with the program in spite of --stay where SIGTERM has ended both', async () => {
    const { child, exit } = run([application, 'wait'], { options: ['--data', data.path, '--stay'] })
    await firstLine(child.stdout)
    child.kill('SIGTERM')
    expect(await exit).toEqual([null, 'SIGTERM'])
  })

  it.runIf(full)('passes stdin, and says nothing with --quiet', async () => {
    const { child, exit, stdout, stderr } = run([application, 'echo'], { options: ['--data', data.path, '--quiet'] })
    child.stdin.end('from above')
    expect(await exit).toEqual([0, null])
    expect(await stdout).toBe('the application runs\nfrom above')
    expect(await stderr).toBe('')
  })

  it('passes signals on, and ends by the signal by which the program has ended', async () => {
    const { child, exit } = run([application, 'wait'])
    await firstLine(child.stdout)
    child.kill('SIGTERM')
    expect(await exit).toEqual([null, 'SIGTERM'])
    expect(await messages()).toEqual(['the application runs'])
  })

  it.runIf(full)('lets a program that listens to a signal go on, and ends it at the second SIGINT', async () => {
    const { child, exit } = run([application, 'deaf'])
    await firstLine(child.stdout)
    const heard = firstLine(child.stdout)
    child.kill('SIGINT')
    expect(await heard).toBe('SIGINT is ignored\n')
    child.kill('SIGINT')
    expect(await exit).toEqual([null, 'SIGKILL'])
  })

  it('joins the receiver that runs on the folder, and takes its key back', async () => {
    const { url } = await ready('--data', data.path)
    const { exit, stderr } = run([application, 'status', '0'])
    expect(await exit).toEqual([0, null])
    expect(await stderr).toContain(`: ${url}/?token=`)
    expect(await stderr).toContain(
      `: 1 record is in ${data.path}; \`npx sluice-receiver page --data ${data.path}\` shows it\n`,
    )
    const { stdout } = spawn(process.execPath, [quiet, cli, 'keys', 'list', '--json', '--data', data.path])
    expect(await text(stdout)).not.toContain('"run"')
  })

  it.runIf(full)(
    'takes a free port where the usual one is taken, but not in place of a port that was asked for',
    async () => {
      const other = createServer().listen(18_400, '127.0.0.1')
      onTestFinished(() => void other.close())
      // Another program may have it already.
      await Promise.race([once(other, 'listening'), once(other, 'error')])
      const { exit } = run([application, 'status', '0'])
      expect(await exit).toEqual([0, null])
      const asked = run([application, 'status', '0'], { options: ['--data', data.path, '--port', '18400'] })
      expect(await asked.exit).toEqual([1, null])
      expect(await asked.stderr).toMatch(/^sluice-receiver: another program listens on 127\.0\.0\.1:18400;/)
      expect(await asked.stdout).toBe('')
    },
  )

  it.runIf(full)('keeps the status of a program that has removed the data folder', async () => {
    const program = `require('node:fs').rmSync(${JSON.stringify(data.path)}, { recursive: true }); process.exit(3)`
    const { exit, stderr } = run(['-e', program])
    expect(await exit).toEqual([3, null])
    expect(await stderr).toMatch(/\nsluice-receiver: run: the receiver did not end well: there is no store in /)
    mkdirSync(data.path)
  })

  it.runIf(full)('leaves variables alone that are set, and says where the records go', async () => {
    const { url, apiKey } = await ready('--data', ':memory:')
    const variables = { SLUICE_URL: url, SLUICE_API_KEY: apiKey!, SLUICE_BUCKET: 'demo' }
    const { exit, stderr } = run([application, 'status', '0'], { variables })
    expect(await exit).toEqual([0, null])
    expect(await stderr).toContain(`SLUICE_URL is set: records go to ${url}, and not to http://127.0.0.1:`)
    const { body } = await caller({ url, apiKey })('GET', '/api/logs/demo')
    expect(body.total).toBe(1)
  })

  it('says what is wrong with the command', async () => {
    const runs = (...args: string[]) => {
      const child = spawn(process.execPath, [quiet, cli, 'run', ...args])
      return Promise.all([text(child.stderr), once(child, 'exit')])
    }
    expect(await runs('node', 'app.js')).toEqual([
      'sluice-receiver: run: expected a program behind --, such as run -- node app.js\n',
      [2, null],
    ])
    expect(await runs('--data', ':memory:', '--port', '0', '--quiet', '--', 'no-such-program')).toEqual([
      'sluice-receiver: run: there is no program no-such-program\n',
      [127, null],
    ])
  })
})
