import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { full } from '../../../../test/support/full.js'
import { dataFolder } from '../data-folder.js'
import { cli, killAll, quiet, ready } from '../processes.js'
import { log, startReceiverForTest } from '../support.js'
import { overStdio, ways } from './assistant.js'

const data = dataFolder()
afterEach(killAll)

const handshake = [
  {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'script', version: '1' } },
  },
  { jsonrpc: '2.0', method: 'notifications/initialized' },
  { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'list_apps', arguments: {} } },
]

/** Runs the command without a client of the SDK. */
function run(variables: Record<string, string>, ...args: readonly string[]) {
  const { SLUICE_URL: _, SLUICE_API_KEY: __, SLUICE_BUCKET: ___, ...env } = process.env
  const child = spawn(process.execPath, [quiet, cli, 'mcp', ...args], { env: { ...env, ...variables } })
  onTestFinished(() => void child.kill('SIGKILL'))
  child.stdin.on('error', () => {})
  return { child, exit: once(child, 'exit'), stdout: text(child.stdout), stderr: text(child.stderr) }
}

async function keyNames(): Promise<string[]> {
  const { stdout } = spawn(process.execPath, [quiet, cli, 'keys', 'list', '--json', '--data', data.path])
  const lines = (await text(stdout)).trim().split('\n')
  return lines.map((line) => JSON.parse(line).name)
}

async function receiver() {
  const started = await startReceiverForTest()
  onTestFinished(() => started.close())
  const variables = { SLUICE_URL: started.url, SLUICE_API_KEY: started.apiKey!, SLUICE_BUCKET: 'demo' }
  return { ...started, variables }
}

describe('sluice-receiver mcp', () => {
  it('answers a script that writes its questions and ends, and then ends itself', async () => {
    const { call, variables } = await receiver()
    await call('POST', '/logs/demo', log)
    const { child, exit, stdout, stderr } = run(variables)
    child.stdin.end(handshake.map((each) => `${JSON.stringify(each)}\n`).join(''))
    expect(await exit).toEqual([0, null])
    const answers = (await stdout)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(answers).toMatchObject([
      { id: 1, result: { protocolVersion: '2024-11-05' } },
      { id: 2, result: { content: [{ text: expect.stringContaining('\nshop: last record ') }] } },
    ])
    expect(await stderr).toBe('')
  })

  it.each(['SIGTERM', 'SIGINT'] as const)('ends with %s, while its client is silent', async (signal) => {
    const { variables } = await receiver()
    const { child, exit, stdout } = run(variables)
    child.stdin.write(`${JSON.stringify(handshake[0])}\n`)
    await once(child.stdout, 'data')
    child.kill(signal)
    expect(await exit).toEqual([0, null])
    expect((await stdout).split('\n')).toHaveLength(2)
  })

  it('joins the receiver that runs on the folder with a key that only reads, and takes it back', async () => {
    await ready('--data', data.path)
    const assistant = await overStdio({}, '--data', data.path)
    expect(await assistant.lines('list_apps')).toHaveLength(2)
    expect(await keyNames()).toContain('mcp')
    await assistant.close()
    await expect.poll(keyNames).not.toContain('mcp')
  })

  it.runIf(full)('says where no receiver runs, and what to do', async () => {
    const { child, exit, stdout, stderr } = run({}, '--data', data.file('nothing'))
    child.stdin.end()
    expect(await exit).toEqual([2, null])
    expect(await stdout).toBe('')
    expect(await stderr).toMatch(
      /^sluice-receiver: mcp: no receiver runs on \S+nothing \(.+\): start one with npx sluice-receiver --data \S+nothing, or set SLUICE_URL, SLUICE_API_KEY and SLUICE_BUCKET\n$/,
    )
    const { child: ended } = await ready('--data', data.path)
    ended.kill('SIGTERM')
    await once(ended, 'exit')
    const later = run({}, '--data', data.path)
    expect(await later.exit).toEqual([2, null])
    expect(await later.stderr).toContain('(connect ECONNREFUSED 127.0.0.1:')
    expect(await keyNames()).not.toContain('mcp')
  })

  it('says which variables are missing', async () => {
    const { exit, stderr } = run({ SLUICE_URL: 'http://127.0.0.1:1' })
    expect(await exit).toEqual([2, null])
    expect(await stderr).toContain('SLUICE_API_KEY')
  })

  it.runIf(full)('outlives a receiver that is away, and says what happened', async () => {
    const first = await ready('--data', data.path, '--new-key')
    const variables = {
      SLUICE_API_KEY: first.apiKey!,
      SLUICE_BUCKET: 'demo',
      SLUICE_RETRY_BASE_MS: '1',
      SLUICE_RETRY_CAP_MS: '1',
    }
    const assistant = await overStdio({ ...variables, SLUICE_URL: first.url })
    first.child.kill('SIGKILL')
    await first.exit
    const { port } = new URL(first.url)
    expect(await assistant.ask('search_logs')).toMatchObject({
      text: expect.stringMatching(/connect ECONNREFUSED.+; start a receiver with npx sluice-receiver --port \d+, or/),
      isError: true,
    })
    await ready('--data', data.path, '--port', port)
    expect(await assistant.lines('search_logs')).toEqual(['Log records, newest first:', 'end'])
    await assistant.close()
  })

  it('says that the receiver refuses the key', async () => {
    const { url } = await receiver()
    const assistant = await ways.stdio({ url, apiKey: 'slk_wrong' })
    const { text, isError } = await assistant.ask('list_apps')
    expect(isError).toBe(true)
    expect(text).toContain('the API key or bearer token is not valid')
    expect(text).not.toContain('slk_wrong')
    await assistant.close()
    expect(await assistant.stderr).toBe('')
  })
})
