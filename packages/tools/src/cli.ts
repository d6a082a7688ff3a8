import { asProgram } from '../../../src/cli/command.js'
import { runProgram } from '../../../src/cli/program.js'

const help = `Usage: sluice-tools COMMAND [options]

  ship [FILE…]   send the lines of files, or of stdin, as log records
  migrate FILE   create a content entry for each line of a file
  track EVENT    record an event, and end when it is stored

  --help         print this; sluice-tools COMMAND --help prints the help of a command
  --version      print the version
`

// Each command is loaded when it is called: ship needs no client for content, and migrate no delivery.
const commands = {
  ship: async (written: readonly string[]) => asProgram((await import('./ship/ship.js')).ship)(written),
  migrate: async (written: readonly string[]) => asProgram((await import('./migrate/migrate.js')).migrate)(written),
  track: async (written: readonly string[]) => asProgram((await import('./track/track.js')).track)(written),
}

void runProgram({ name: 'sluice-tools', help, commands }, process.argv.slice(2)).then((status) => {
  process.exitCode = status
})
