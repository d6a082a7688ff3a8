import { asProgram } from '../../../../src/cli/command.js'
import type { ReadingName } from '../arguments.js'
import { logs } from './logs.js'
import { values } from './values.js'

const commands = { logs: asProgram(logs), values: asProgram(values) }

/** Runs a command that reads from a receiver. Resolves with the exit status. */
export async function read(name: ReadingName, written: readonly string[]): Promise<number> {
  // A reader that closes its end of the pipe has read enough.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  return await commands[name](written)
}
