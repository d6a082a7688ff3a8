import { isPathSegment } from '../../records/wire.js'
import { readArguments } from '../arguments.js'
import { jsonHelp } from '../ending.js'

export interface MigrateArguments {
  readonly file: string
  readonly project: string
  readonly type: string
  readonly concurrency: number
  readonly dryRun: boolean
  readonly json: boolean
}

export type MigrateRequest =
  | { readonly type: 'run'; readonly arguments: MigrateArguments }
  | { readonly type: 'help' }
  | { readonly type: 'wrong'; readonly message: string }

const defaultConcurrency = 8
const maxConcurrency = 256

export const migrateHelp = `Usage: sluice migrate FILE --project PROJECT --type TYPE [options]

Makes a content entry of every line of FILE, with the times that it has where it comes from. A line is an object of JSON:

  {"fields": {…}, "createdAt": "…", "updatedAt": "…", "publishedAt": "…"}

Each time may be left out; it is in UTC, such as 2024-05-01T12:00:00Z. Empty lines are skipped.

  --project PROJECT   project that gets the entries
  --type TYPE         key or id of their content type
  --concurrency N     entries under way at the same time, 1 to ${maxConcurrency} (default ${defaultConcurrency})
  --dry-run           send nothing; check every line against the schema of the content type as the service lists it,
                      which says nothing of markup and size
  --json              ${jsonHelp}
  --help              print this

The service: SLUICE_URL, and SLUICE_ACCESS_TOKEN, SLUICE_API_KEY or both (or SLUICE_ACCESS_TOKEN_FILE, SLUICE_API_KEY_FILE).

FILE.journal          What has arrived. The same command, given again, goes on where the last one ended: what has arrived is
                      not sent again, everything else is. A line whose answer was lost is sent again with the same idempotency
                      key and named, for a service that does not heed these keys may have it twice then.
FILE.rejects.ndjson   The lines that have not arrived, with number and reasons; begun anew by each run.

It stops where the next line would fail as well: wrong credentials, no such project or type, no plan, a service that cannot be
reached or fails time after time. Ctrl-C or SIGTERM: no further line is taken, what is under way is waited for; the second time it
ends at once. Either way the same command goes on.

Exit status: 0 all lines have arrived (--dry-run: are valid), 1 some have not, 2 the command line or the configuration is wrong.

Examples:
  sluice migrate articles.ndjson --project demo --type article --dry-run
  sluice migrate articles.ndjson --project demo --type article
`

/** Read the command line of `sluice migrate`. */
export function readMigrateArguments(written: readonly string[]): MigrateRequest {
  const read = readArguments(written, {
    project: { type: 'string' },
    type: { type: 'string' },
    concurrency: { type: 'string' },
    'dry-run': { type: 'boolean' },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  })
  if (!read.ok) return wrong(read.message)
  const { texts, flags, operands } = read
  if (flags.has('help')) return { type: 'help' }
  const [file, ...more] = operands
  if (file === undefined) return wrong('FILE: expected the name of a file, got none')
  if (more.length > 0) return wrong(`FILE: expected one file, got ${operands.length}: ${operands.join(', ')}`)
  const { project, type, concurrency: asked = String(defaultConcurrency) } = texts
  if (project === undefined) return wrong('--project: expected a project, got none')
  if (type === undefined) return wrong('--type: expected a content type, got none')
  for (const [option, name] of Object.entries({ project, type })) {
    if (!isPathSegment(name)) return wrong(`--${option}: expected a name, got "${name}"`)
  }
  const concurrency = Number(asked)
  if (!/^\d+$/.test(asked) || concurrency < 1 || concurrency > maxConcurrency) {
    return wrong(`--concurrency: expected a whole number from 1 to ${maxConcurrency}, got "${asked}"`)
  }
  return {
    type: 'run',
    arguments: { file, project, type, concurrency, dryRun: flags.has('dry-run'), json: flags.has('json') },
  }
}

function wrong(message: string): MigrateRequest {
  return { type: 'wrong', message }
}
