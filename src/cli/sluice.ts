import { asProgram } from './command.js'
import { doctor } from './doctor/doctor.js'
import type { Program } from './program.js'
import { replay } from './replay/replay.js'

/** The program `sluice`. */
export const sluice: Program = {
  name: 'sluice',
  help: `Usage: sluice COMMAND [options]

  doctor      check everything between this application and the service
  replay DIR  send the records of a spool or of a dead-letter folder; list and drop dead letters

  --help      print this; sluice COMMAND --help prints the help of a command
  --version   print the version

npx sluice-tools ships the lines of files and migrates content; npx sluice-receiver prints the
records of the receiver.
`,
  commands: { doctor: asProgram(doctor), replay: asProgram(replay) },
  // Until 1.0.
  gone: {
    'dead-letters': 'dead letters are part of replay now: npx sluice replay DIR --list',
    events: 'events check is gone: defineEvents throws for a number that is there twice',
  },
}
