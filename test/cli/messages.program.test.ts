import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { full, rowsOf } from '../support/full.js'
import { listenTo, startProgram } from '../support/programs.js'
import { startTestReceiver } from '../support/receiver.js'
import { setUpSpool, spoolFolder } from '../support/spool.js'

const root = join(import.meta.dirname, '../..')
const programs: Readonly<Record<string, string>> = {
  sluice: join(root, 'dist/cli.js'),
  'sluice-receiver': join(root, 'packages/receiver/bin/sluice-receiver.js'),
  'sluice-tools': join(root, 'packages/tools/bin/sluice-tools.js'),
}

/** Starts a command such as `sluice replay`, with what follows it. */
function start(command: string, written: readonly string[], variables: Record<string, string> = {}) {
  const [program = '', ...words] = command.split(' ')
  const running = startProgram(programs[program]!, { arguments: [...words, ...written], variables })
  onTestFinished(() => void running.process.kill('SIGKILL'))
  return running
}

/** A spool with one record, and a file with one line. */
async function things() {
  const folder = spoolFolder()
  const spool = join(folder, 'spool')
  const { log, end } = setUpSpool(spool)
  log('{"message":"left"}')
  await end()
  const file = join(folder, 'lines')
  writeFileSync(file, '{"fields":{}}\n')
  mkdirSync(join(folder, 'data'))
  return { folder, spool, file, missing: join(folder, 'missing') }
}

type Things = Awaited<ReturnType<typeof things>>

const entries = ['--project', 'p', '--type', 't']
const service = { SLUICE_URL: 'http://127.0.0.1:1', SLUICE_API_KEY: 'key-of-a-test', SLUICE_BUCKET: 'b' }

describe('a path that leads nowhere', () => {
  const rows: [string, (missing: string) => string[], 'file' | 'folder'][] = [
    ['sluice replay', (missing) => [missing], 'folder'],
    ['sluice replay --list', (missing) => [missing], 'folder'],
    ['sluice-tools ship', (missing) => [missing], 'file'],
    ['sluice-tools migrate', (missing) => [missing, ...entries], 'file'],
    ['sluice-tools migrate', (missing) => [`${missing}/below`, ...entries], 'file'],
    ['sluice-receiver values', (missing) => ['--events', missing], 'file'],
    ['sluice-receiver', (missing) => ['--data', ':memory:', '--events', missing], 'file'],
    ['sluice-receiver', (missing) => ['--data', ':memory:', '--tls-key', missing, '--tls-cert', missing], 'file'],
    ['sluice-receiver keys list', (missing) => ['--data', missing], 'folder'],
    ['sluice-receiver page', (missing) => ['--data', missing], 'folder'],
    ['sluice-receiver backup', (missing) => ['new-file', '--data', missing], 'folder'],
  ]
  it.each(rowsOf(rows, ([command]) => ['sluice replay', 'sluice-receiver keys list'].includes(command)))(
    'is called by its kind and its name: %s',
    async (command, written, kind) => {
      const { missing } = await things()
      const { code, stderr } = await start(command, written(missing), service).ended
      expect(code).not.toBe(0)
      expect(stderr).toContain(`there is no such ${kind}: ${missing}`)
      expect(stderr).not.toContain('ENOENT')
    },
  )

  it.runIf(full)('is called so in the variable of a key, and in the target of a backup', async () => {
    const { missing, folder } = await things()
    const { SLUICE_API_KEY: _, ...rest } = service
    for (const command of ['sluice doctor', 'sluice-receiver logs', 'sluice-tools ship']) {
      const { stdout, stderr } = await start(command, [], { ...rest, SLUICE_API_KEY_FILE: missing }).ended
      expect(stdout + stderr).toContain(`SLUICE_API_KEY_FILE (option apiKey): there is no such file: ${missing}`)
    }
    const data = join(folder, 'data')
    await (await startTestReceiver({ data })).close()
    const { stderr } = await start('sluice-receiver backup', [join(missing, 'copy'), '--data', data]).ended
    expect(stderr).toContain(`there is no such folder: ${missing}\n`)
  })
})

describe('a service that does not answer', () => {
  const commands: [string, (things: Things) => string[]][] = [
    ['sluice doctor', () => []],
    ['sluice replay', ({ spool }) => [spool]],
    ['sluice-tools ship', ({ file }) => [file]],
    ['sluice-tools migrate', ({ file }) => [file, ...entries]],
    ['sluice-tools migrate --dry-run', ({ file }) => [file, ...entries]],
    ['sluice-receiver logs', () => []],
    ['sluice-receiver logs --follow', () => []],
    ['sluice-receiver values', () => []],
  ]
  const inShort = ([command]: (typeof commands)[number]) => ['sluice-receiver logs', 'sluice replay'].includes(command)

  it.each(rowsOf(commands, inShort))(
    'gets the words of the runtime and the next step where nothing listens: %s',
    async (command, written) => {
      const running = start(command, written(await things()), service)
      const said = Promise.all([
        hears(running, 'ECONNREFUSED'),
        hears(running, 'start a receiver with npx sluice-receiver --port 1, or correct the port in SLUICE_URL'),
      ])
      await said
    },
  )

  it.runIf(full).each(commands)('gets them where the name is unknown: %s', async (command, written) => {
    const variables = { ...service, SLUICE_URL: 'https://nowhere.invalid' }
    const running = start(command, written(await things()), variables)
    await Promise.all([hears(running, 'ENOTFOUND'), hears(running, 'check the name in SLUICE_URL, ')])
  })

  it.runIf(full).each(commands)(
    'gets them where no answer comes in time: %s',
    async (command, written) => {
      const silent = createServer().listen(0, '127.0.0.1')
      await once(silent, 'listening')
      onTestFinished(() => void silent.close())
      const { port } = silent.address() as { port: number }
      const variables = { ...service, SLUICE_URL: `http://127.0.0.1:${port}`, SLUICE_REQUEST_TIMEOUT_MS: '200' }
      const running = start(command, written(await things()), variables)
      await Promise.all([hears(running, 'no answer within 200 ms'), hears(running, 'check that ')])
    },
    30_000,
  )

  it.runIf(full)('gets them where it is a database', async () => {
    for (const command of ['sluice-receiver', 'sluice-receiver keys list', 'sluice-receiver projects list']) {
      const { code, stderr } = await start(command, ['--database', 'postgres://127.0.0.1:1/x']).ended
      expect(code).toBe(1)
      expect(stderr).toContain('ECONNREFUSED')
      expect(stderr).toContain('check that PostgreSQL runs there, and its URL (--database or SLUICE_DATABASE)')
    }
  })
})

/** Resolves when stdout or stderr has these words. Rejects when the program ends without them. */
async function hears({ process, ended }: ReturnType<typeof start>, words: string): Promise<void> {
  const heard = [process.stdout, process.stderr].map((stream) => listenTo(stream)(words))
  const failed = ended.then(({ stdout, stderr }) => {
    if (!(stdout + stderr).includes(words)) throw new Error(`"${words}" is not in: ${stdout}${stderr}`)
  })
  await Promise.race([...heard, failed])
}
