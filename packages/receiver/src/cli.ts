import { jsonLine } from '../../../src/cli/output.js'
import { readArguments } from './arguments.js'
import { firstCode } from './first-code.js'
import type { Options } from './options/option-table.js'
import { unknownVariables } from './options/read-options.js'
import type { Receiver } from './receiver.js'
import type { ReceiverOptions } from './receiver-options.js'
import { outliveReaders, say } from './stderr.js'
import { readDatabaseUrl } from './storage/postgres/database-url.js'
import { version } from './version.js'

// The receiver itself is loaded to start it alone.
const command = readArguments(process.argv.slice(2), process.env)
if (command.type !== 'help' && command.type !== 'version') {
  for (const unknown of unknownVariables(process.env)) process.stderr.write(`sluice-receiver: ${unknown}\n`)
}
try {
  await run()
} catch (error) {
  fail((error as Error).message, { json: command.type === 'store' && command.json, status: 1 })
}

async function run(): Promise<void> {
  switch (command.type) {
    case 'help':
      process.stdout.write(command.text)
      break
    case 'version':
      process.stdout.write(`${version}\n`)
      break
    case 'reading': {
      const { read } = await import('./commands/reading.js')
      process.exitCode = await read(command.name, command.written)
      break
    }
    case 'run': {
      const { runProgram } = await import('./commands/run-command.js')
      await runProgram(command.command)
      break
    }
    case 'mcp': {
      const { serveMcp } = await import('./commands/mcp-command.js')
      process.exitCode = await serveMcp(command.command)
      break
    }
    case 'store':
      process.stdout.write(await command.run())
      break
    case 'wrong':
      fail(command.message, { json: command.json === true, status: 2 })
      break
    case 'start': {
      outliveReaders()
      const { startReceiver } = await import('./receiver.js')
      greet(await startReceiver(startOptions(command.options)), command.options)
    }
  }
}

function greet(receiver: Receiver, { host, json, data, database }: Options): void {
  // The listeners come before the ready message: a script may send SIGTERM as soon as it reads that message.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => void receiver.close().then(() => process.exit(0)))
  }
  const { close: _, ...facts } = receiver
  if (isExposed(facts.url, host)) {
    process.stderr.write(
      `sluice-receiver: keys and records cross the network in the clear: use --tls-cert and --tls-key off loopback\n`,
    )
  }
  process.stdout.write(json ? `${JSON.stringify(facts)}\n` : greeting({ ...facts, data, database }))
}

/** The text that a person reads when the receiver is ready: the page, the new key, if there is one, the variables to set and the first code. */
function greeting({
  url,
  project,
  apiKey,
  page,
  data,
  database,
}: Omit<Receiver, 'close'> & Pick<Options, 'data' | 'database'>): string {
  const place =
    database !== undefined
      ? `in the database ${readDatabaseUrl(database).name}`
      : data === ':memory:'
        ? 'in memory: nothing is kept'
        : `in ${data}`
  const ready = `sluice-receiver is ready at ${url} (data ${place})\nSee the records arrive (the address opens one browser): ${page}\n`
  if (apiKey === null) return `${ready}Project ${project}. Lost the key? Start with --new-key to make another.\n`
  return `${ready}
Project ${project}, with a new API key. It is shown only now:

  ${apiKey}

Paste this where your application starts:

  export SLUICE_URL=${url}
  export SLUICE_API_KEY=${apiKey}
  export SLUICE_BUCKET=${project}

${firstCode(process.cwd())}`
}

/** With `--json`, stdout has the one line that a script reads. */
function startOptions({ accessLog, json, ...options }: Options): ReceiverOptions {
  return { ...options, accessLog: accessLog ? (json ? 'stderr' : 'stdout') : undefined }
}

function isExposed(url: string, host: string): boolean {
  return url.startsWith('http:') && !/^(127\.|::1$|localhost$)/.test(host)
}

function fail(message: string, { json, status }: { readonly json: boolean; readonly status: 1 | 2 }): void {
  if (json) process.stdout.write(jsonLine({ ok: false, error: message }))
  say(message)
  process.exitCode = status
}
