import { readArguments } from './arguments.js'
import { greeting } from './greeting.js'
import { runKeys } from './keys/keys-command.js'
import { helpText } from './options/help-text.js'
import type { Options } from './options/option-table.js'
import { unknownVariables } from './options/read-options.js'
import { type ReceiverOptions, startReceiver } from './receiver.js'
import { backUp } from './storage/sqlite/backup.js'
import { version } from './version.js'

const command = readArguments(process.argv.slice(2), process.env)
if (command.type !== 'help' && command.type !== 'version') {
  for (const unknown of unknownVariables(process.env)) process.stderr.write(`sluice-receiver: ${unknown}\n`)
}
switch (command.type) {
  case 'help':
    process.stdout.write(helpText)
    break
  case 'version':
    process.stdout.write(`${version}\n`)
    break
  case 'backup': {
    const { data, file, json } = command
    backUp(data, file).then(
      (bytes) => process.stdout.write(json ? `${JSON.stringify({ file, bytes })}\n` : `${file} has ${bytes} bytes.\n`),
      (error: Error) => fail(error.message),
    )
    break
  }
  case 'keys':
    runKeys(command.command).then(
      (text) => process.stdout.write(text),
      (error: Error) => fail(error.message),
    )
    break
  case 'wrong':
    fail(command.message)
    break
  case 'start':
    startReceiver(startOptions(command.options)).then(
      (receiver) => {
        // The listeners come before the ready message: a script may send SIGTERM as soon as it reads that message.
        for (const signal of ['SIGTERM', 'SIGINT'] as const) {
          process.once(signal, () => void receiver.close().then(() => process.exit(0)))
        }
        const { json, data, database } = command.options
        const { url, project, apiKey, page } = receiver
        if (isExposed(url, command.options.host)) {
          process.stderr.write(
            `sluice-receiver: keys and records cross the network in the clear: use --tls-cert and --tls-key off loopback\n`,
          )
        }
        process.stdout.write(
          json
            ? `${JSON.stringify({ url, project, apiKey, page })}\n`
            : greeting({ url, project, apiKey, page, data, database }),
        )
      },
      (error: Error) => fail(error.message),
    )
}

/** With `--json`, stdout has the one line that a script reads. */
function startOptions({ accessLog, json, ...options }: Options): ReceiverOptions {
  return { ...options, accessLog: accessLog ? (json ? 'stderr' : 'stdout') : undefined }
}

function isExposed(url: string, host: string): boolean {
  return url.startsWith('http:') && !/^(127\.|::1$|localhost$)/.test(host)
}

function fail(message: string): void {
  process.stderr.write(`sluice-receiver: ${message}\n`)
  process.exitCode = 1
}
