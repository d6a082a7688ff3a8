import { readArguments } from '../arguments.js'
import { jsonHelp } from '../ending.js'

export interface ReplayArguments {
  readonly dir: string
  readonly dryRun: boolean
  readonly json: boolean
  /** Records a second, at most. */
  readonly limitRate: number
}

export type ReplayRequest =
  | { readonly type: 'run'; readonly arguments: ReplayArguments }
  | { readonly type: 'help' }
  | { readonly type: 'wrong'; readonly message: string }

export const replayHelp = `Usage: sluice replay DIR [options]

Sends the records of a spool, or of dead letters, that a process has left or that were copied from another machine. DIR is the folder
of SLUICE_SPOOL_DIR, the folder of one engine in it, or its dead-letter folder. Dead letters are only sent when DIR is their folder.

  --dry-run        send nothing; count the records
  --limit-rate N   at most N records a second
  --json           ${jsonHelp}
  --help           print this

The service: SLUICE_URL and SLUICE_API_KEY (or SLUICE_API_KEY_FILE). Every record goes to the bucket that it was meant for.

What is delivered is taken out of DIR; the same command, given again, goes on where the last one ended, however it ended. What was
on its way when it was killed is sent again with the same idempotency key. Records that the service rejects stay where they are, and so
do files with damaged lines, as FILE.damaged. The folder of a process that lives is refused.

Ctrl-C or SIGTERM: no further record is taken, what is under way is waited for; the second time it ends at once.

Exit status: 0 all records were delivered (--dry-run: could be read), 1 some were not, 2 the command line or the configuration is wrong.

Examples:
  sluice replay /var/spool/shop --limit-rate 500
  sluice replay /var/spool/shop/dead-letter --dry-run
`

/** Read the command line of `sluice replay`. */
export function readReplayArguments(written: readonly string[]): ReplayRequest {
  const read = readArguments(written, {
    'dry-run': { type: 'boolean' },
    json: { type: 'boolean' },
    'limit-rate': { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  })
  if (!read.ok) return wrong(read.message)
  const { texts, flags, operands } = read
  if (flags.has('help')) return { type: 'help' }
  const [dir, ...more] = operands
  if (dir === undefined) return wrong('DIR: expected the name of a folder, got none')
  if (more.length > 0) return wrong(`DIR: expected one folder, got ${operands.length}: ${operands.join(', ')}`)
  const rate = texts['limit-rate']
  if (rate !== undefined && !/^[1-9]\d*$/.test(rate)) {
    return wrong(`--limit-rate: expected a whole number from 1, got "${rate}"`)
  }
  const limitRate = rate === undefined ? Number.POSITIVE_INFINITY : Number(rate)
  return { type: 'run', arguments: { dir, dryRun: flags.has('dry-run'), json: flags.has('json'), limitRate } }
}

function wrong(message: string): ReplayRequest {
  return { type: 'wrong', message }
}
