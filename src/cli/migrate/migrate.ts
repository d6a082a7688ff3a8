import { stat } from 'node:fs/promises'
import { ApiError } from '../../content/api-error.js'
import { openContentService } from '../../content/content-client.js'
import type { ContentService } from '../../content/content-service.js'
import { ConfigError } from '../../errors/sluice-error.js'
import { isPathSegment } from '../../records/wire.js'
import { type Clock, systemClock } from '../../runtime/clock.js'
import { Lock, type LockingProcess } from '../../spool/lock.js'
import { readArguments } from '../arguments.js'
import { Interruption } from '../interruption.js'
import { Ending, jsonHelp, printOwn, type Status, type Summary, sayLine } from '../output.js'
import { Progress } from '../progress.js'
import { checkLines } from './dry-run.js'
import { Journal, JournalError } from './journal.js'
import { readLines } from './line-reader.js'
import { type Account, Migration } from './migration.js'
import { RejectsFile } from './rejects-file.js'

/** The command `sluice migrate`: resolves with the exit status. */
export async function migrate(written: readonly string[]): Promise<number> {
  const request = readMigrateArguments(written)
  if (request.type === 'help') {
    printOwn(migrateHelp)
    return 0
  }
  if (request.type === 'wrong') return new Ending('migrate').wrong(request.message)
  const { file, concurrency, dryRun, json } = request.arguments
  const ending = new Ending('migrate', { json })
  let service: ContentService | undefined
  try {
    const facts = await stat(file)
    if (!facts.isFile()) return ending.fail(2, `FILE: expected a file, and ${file} is none`)
    service = openContentService({ maxConnections: concurrency })
    const run: Run = { ...request.arguments, ending, service, totalBytes: facts.size, clock: systemClock }
    return await (dryRun ? check(run) : carryOut(run))
  } catch (error) {
    if (error instanceof ConfigError || error instanceof JournalError) return ending.fail(2, error.message)
    const { code, path, message } = error as NodeJS.ErrnoException
    if (path === file) return ending.fail(2, `FILE: cannot read ${file}: ${code}`)
    if (path?.startsWith(`${file}.`))
      return ending.fail(1, `cannot write the journal and the rejects beside ${file}: ${code}`)
    if (error instanceof ApiError || code !== undefined) return ending.fail(1, message)
    throw error
  } finally {
    await service?.close()
  }
}

interface Run extends MigrateArguments {
  readonly ending: Ending
  readonly service: ContentService
  readonly totalBytes: number
  readonly clock: Clock
}

/** Check every line, and send nothing. */
async function check({ file, project, type, ending, service, totalBytes, clock }: Run): Promise<Status> {
  const holder = Lock.processOf(lockName(file))
  // It writes rejects of its own.
  if (holder !== undefined) return failForLock(ending, { file, holder })
  const rejects = await RejectsFile.begin(rejectsPath(file))
  const progress = new Progress({ screen: process.stderr, clock, totalBytes })
  try {
    const outcome = await checkLines(readLines(file), { service, project, type, rejects, progress })
    progress.end()
    if ('impossible' in outcome) return ending.fail(1, outcome.impossible)
    return ending.summary(checkSummary(outcome, rejects.path))
  } finally {
    progress.end()
    await rejects.close()
  }
}

async function carryOut(run: Run): Promise<Status> {
  const { file, project, type, concurrency, ending, service, totalBytes, clock } = run
  const lock = Lock.take(lockName(file))
  if (!(lock instanceof Lock)) return failForLock(ending, { file, holder: lock })
  let journal: Journal | undefined
  let rejects: RejectsFile | undefined
  let progress: Progress | undefined
  const interruption = new Interruption((text) => {
    if (progress === undefined) sayLine(text)
    else progress.say(text)
  })
  try {
    journal = await Journal.open(`${file}.journal`, { url: service.url, project, type })
    const changed = await journal.arrived.changed(readLines(file))
    if (changed !== undefined) {
      const words = `${file} has changed somewhere in its lines ${changed}, of which some have arrived`
      return ending.fail(1, `${words}: bring it back as it was, or migrate the rest as another file`)
    }
    rejects = await RejectsFile.begin(rejectsPath(file))
    progress = new Progress({ screen: process.stderr, clock, totalBytes })
    const migration = new Migration({
      lines: readLines(file),
      target: { send: (entry) => service.migrateEntry(project, { type, ...entry }) },
      journal,
      rejects,
      progress,
      concurrency,
      retry: service.retry,
      clock,
      random: Math.random,
      signal: interruption.signal,
    })
    await migration.run()
    progress.end()
    const { account, stopped } = migration
    const status = ending.summary(migrationSummary(account, { stopped, rejects: rejects.path }))
    if (stopped !== undefined) ending.complain(`stopped: ${stopped}`)
    return status
  } finally {
    progress?.end()
    interruption.end()
    await rejects?.close()
    await journal?.close()
    lock.release()
  }
}

function failForLock(ending: Ending, { file, holder }: { file: string; holder: LockingProcess }): Status {
  return ending.fail(1, `process ${holder.pid} migrates ${file}; if it does not, remove ${holder.path}`)
}

function lockName(file: string): string {
  return `${file}.journal.lock`
}

function rejectsPath(file: string): string {
  return `${file}.rejects.ndjson`
}

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

/** What a migration came to. */
export function migrationSummary(
  account: Account,
  { stopped, rejects }: { readonly stopped: string | undefined; readonly rejects: string },
): Summary {
  const { lines, before, arrived, invalid, refused, unknown } = account
  const have = before + arrived
  const ok = have === lines && stopped === undefined
  const of = stopped === undefined ? ` of ${lines}` : ''
  const earlier = before === 0 ? '' : ` (${before} of them in earlier runs)`
  const rejected = invalid + refused + unknown
  // Nothing else is left: without a change the command would come to the same.
  const toMend = stopped === undefined && unknown === 0
  const kinds = [
    [invalid, 'not valid'],
    [refused, 'refused by the service'],
    [unknown, 'may have arrived'],
  ] as const
  const words = kinds.flatMap(([count, kind]) => (count === 0 ? [] : `${count} ${kind}`)).join(', ')
  return {
    ok,
    facts: { ...account, rejects: rejected === 0 ? null : rejects, stopped: stopped ?? null },
    lines: [
      `${have}${of} lines have arrived${earlier}`,
      ...(rejected === 0 ? [] : [`${rejected} have not, see ${rejects}: ${words}`]),
      ...(ok ? [] : [`to go on, ${toMend ? 'mend them in FILE and ' : ''}give the same command again`]),
    ],
  }
}

/** What a check came to. */
export function checkSummary(
  { lines, invalid }: { readonly lines: number; readonly invalid: number },
  rejects: string,
): Summary {
  return {
    ok: invalid === 0,
    facts: { lines, invalid, rejects: invalid === 0 ? null : rejects },
    lines: [
      `${lines - invalid} of ${lines} lines are valid; nothing was sent`,
      ...(invalid === 0 ? [] : [`${invalid} are not, see ${rejects}`]),
    ],
  }
}
