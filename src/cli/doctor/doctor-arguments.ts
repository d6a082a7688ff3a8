import { readArguments } from '../arguments.js'
import { jsonHelp } from '../ending.js'

export type DoctorRequest =
  | { readonly type: 'run'; readonly send: boolean; readonly json: boolean }
  | { readonly type: 'help' }
  | { readonly type: 'wrong'; readonly message: string }

export const doctorHelp = `Usage: sluice doctor [options]

Looks at everything between an application in this folder, with these environment variables, and the service: the options and where each
of them comes from, the name, the connection, the certificate, the clock, the key and the buckets, the sender that the option
pipelining would take and why, the spool, and the delivery worker. Each is a line with a tick or a cross, and what to do about it.

  --no-send   send no record; without it, one log record of level warn and one value record (event 0) go to your buckets
  --json      ${jsonHelp}
  --help      print this

No key and no token is ever printed. Each look ends after SLUICE_REQUEST_TIMEOUT_MS, ten seconds at most (connecting and the answer each);
what cannot work for want of an earlier one is left out.

Exit status: 0 no cross, 1 at least one, 2 the command line is wrong.

Examples:
  sluice doctor
  sluice doctor --no-send
  sluice doctor --json | jq '.checks[] | select(.state == "bad")'
`

/** Read the command line of `sluice doctor`. */
export function readDoctorArguments(written: readonly string[]): DoctorRequest {
  const read = readArguments(written, {
    'no-send': { type: 'boolean' },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  })
  if (!read.ok) return { type: 'wrong', message: read.message }
  const { flags, operands } = read
  if (flags.has('help')) return { type: 'help' }
  if (operands.length > 0) return { type: 'wrong', message: `expected no operand, got ${operands.join(', ')}` }
  return { type: 'run', send: !flags.has('no-send'), json: flags.has('json') }
}
