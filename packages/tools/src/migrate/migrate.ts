import { stat } from 'node:fs/promises'
import type { Command } from '../../../../src/cli/command.js'
import { Interruption } from '../../../../src/cli/interruption.js'
import { failureWords } from '../../../../src/cli/next-step.js'
import { jsonHelp, type Output, type Status } from '../../../../src/cli/output.js'
import { ApiError } from '../../../../src/content/api-error.js'
import { openContentService } from '../../../../src/content/content-client.js'
import type { ContentService } from '../../../../src/content/content-service.js'
import { pathFault } from '../../../../src/errors/text-of.js'
import { isPathSegment } from '../../../../src/records/wire.js'
import { systemClock } from '../../../../src/runtime/clock.js'
import { Lock, type LockingProcess, machineLocks } from '../../../../src/spool/lock.js'
import { linesOfFile, passingLinesOfFile } from '../line-splitter.js'
import { checkLines, checkSummary } from './dry-run.js'
import { Journal, JournalError } from './journal.js'
import { Migration, migrationSummary } from './migration.js'
import { RejectsFile } from './rejects-file.js'

interface MigrateArguments {
  readonly file: string
  readonly project: string
  readonly type: string
  readonly concurrency: number
  readonly dryRun: boolean
  readonly json: boolean
}

const defaultConcurrency = 8
const maxConcurrency = 256

const help = `Usage: sluice-tools migrate FILE --project PROJECT --type TYPE [options]

Creates a content entry for each line of FILE and keeps the times of the entry. A line is a JSON
object:

  {"fields": {…}, "createdAt": "…", "updatedAt": "…", "publishedAt": "…"}

Each time may be left out. It is in UTC, such as 2024-05-01T12:00:00Z. A line of another content
type has its key or id as "contentTypeKey". Empty lines are skipped.

  --project PROJECT   the project that gets the entries
  --type TYPE         key or id of their content type
  --concurrency N     entries under way at the same time, 1 to ${maxConcurrency} (default ${defaultConcurrency})
  --dry-run           send nothing; check every line against the schema of the content type,
                      except its rules for markup and size
  --json              ${jsonHelp}
  --help              print this

The service: SLUICE_URL, and SLUICE_ACCESS_TOKEN, SLUICE_API_KEY or both (or
SLUICE_ACCESS_TOKEN_FILE, SLUICE_API_KEY_FILE).

FILE.journal          The lines that have arrived. The same command, given again, continues
                      where the last one ended and sends all other lines. A line whose answer
                      was lost is sent again with the same idempotency key, and its number is
                      printed, because a service that ignores these keys may then have it twice.
FILE.rejects.ndjson   The lines that have not arrived, with number and reasons. Each run writes
                      this file anew. The first five are printed, too.

It stops at a failure that the next line would meet, too: wrong credentials, an unknown project
or type, no plan, a service that cannot be reached or that fails again and again. At Ctrl-C or
SIGTERM it takes no further line and waits for the entries under way. A second signal ends it at
once. In all cases the same command continues.

Exit status: 0 all lines have arrived (--dry-run: are valid), 1 some have not, 2 the command
line or the configuration is wrong.

Examples:
  sluice-tools migrate articles.ndjson --project demo --type article --dry-run
  sluice-tools migrate articles.ndjson --project demo --type article
`

/** The command `sluice-tools migrate`. */
export const migrate: Command<MigrateArguments> = {
  name: 'sluice-tools migrate',
  help,
  options: {
    project: { type: 'string' },
    type: { type: 'string' },
    concurrency: { type: 'string' },
    'dry-run': { type: 'boolean' },
  },
  read({ texts, flags, operands }) {
    const [file, ...more] = operands
    if (file === undefined) return 'FILE: expected the name of a file, got none'
    if (more.length > 0) return `FILE: expected one file, got ${operands.length}: ${operands.join(', ')}`
    const { project, type, concurrency: asked = String(defaultConcurrency) } = texts
    if (project === undefined) return '--project: expected a project, got none'
    if (type === undefined) return '--type: expected a content type, got none'
    for (const [option, name] of Object.entries({ project, type })) {
      if (!isPathSegment(name)) return `--${option}: expected a name, got "${name}"`
    }
    const concurrency = Number(asked)
    if (!/^\d+$/.test(asked) || concurrency < 1 || concurrency > maxConcurrency) {
      return `--concurrency: expected a whole number from 1 to ${maxConcurrency}, got "${asked}"`
    }
    return { file, project, type, concurrency, dryRun: flags.has('dry-run'), json: flags.has('json') }
  },
  async run(given, output) {
    const { file, concurrency, dryRun } = given
    const facts = await stat(file)
    if (facts.isDirectory()) return output.fail(2, `${file} is a folder, not a file`)
    if (!facts.isFile()) return output.fail(2, `FILE: expected a file, and ${file} is none`)
    const service = openContentService({ maxConnections: concurrency })
    try {
      const run = { ...given, output, service, totalBytes: facts.size }
      return await (dryRun ? check(run) : send(run))
    } finally {
      await service.close()
    }
  },
  failureOf(error, { file }) {
    if (error instanceof JournalError) return [2, error.message]
    const { code, path, message } = error
    if (path === file) return [2, pathFault(error, { path: file })]
    if (path?.startsWith(`${file}.`)) return [1, `cannot write the journal and the rejects beside ${file}: ${message}`]
    if (error instanceof ApiError) return [1, failureWords(error)]
    return code === undefined ? undefined : [1, message]
  },
}

interface Run extends MigrateArguments {
  readonly output: Output
  readonly service: ContentService
  readonly totalBytes: number
}

/** Check every line, and send nothing. */
async function check({ file, project, type, output, service, totalBytes }: Run): Promise<Status> {
  const holder = machineLocks.processOf(lockName(file))
  // The running migration writes the same file of rejects.
  if (holder !== undefined) return failForLock(output, { file, holder })
  const rejects = await RejectsFile.begin(rejectsPath(file))
  try {
    const progress = output.showProgress({ clock: systemClock, totalBytes })
    const outcome = await checkLines(linesOfFile(file), { service, project, type, rejects, progress })
    if ('impossible' in outcome) return output.fail(1, outcome.impossible)
    return output.summary(checkSummary(outcome, rejects))
  } finally {
    await rejects.close()
  }
}

async function send({ file, project, type, concurrency, output, service, totalBytes }: Run): Promise<Status> {
  const lock = machineLocks.take(lockName(file))
  if (!(lock instanceof Lock)) return failForLock(output, { file, holder: lock })
  let journal: Journal | undefined
  let rejects: RejectsFile | undefined
  const interruption = new Interruption((text) => output.say(text), 'entries')
  try {
    journal = await Journal.open(`${file}.journal`, { url: service.url, project, type })
    const changed = await journal.arrived.changed(passingLinesOfFile(file))
    if (changed !== undefined) {
      const words = `${file} has changed somewhere in its lines ${changed}, and some of these have arrived`
      return output.fail(1, `${words}: restore the file, or migrate the rest as another file`)
    }
    rejects = await RejectsFile.begin(rejectsPath(file))
    const migration = new Migration({
      lines: linesOfFile(file),
      target: { send: (entry) => service.migrateEntry(project, { type, ...entry }) },
      journal,
      rejects,
      progress: output.showProgress({ clock: systemClock, totalBytes }),
      concurrency,
      retry: service.retry,
      clock: systemClock,
      random: Math.random,
      signal: interruption.signal,
    })
    await migration.run()
    const { account, stopped } = migration
    const status = output.summary(migrationSummary(account, { stopped, rejects }))
    if (stopped !== undefined) output.complain(`stopped: ${stopped}`)
    return status
  } finally {
    interruption.end()
    await rejects?.close()
    await journal?.close()
    lock.clear()
  }
}

function failForLock(output: Output, { file, holder }: { file: string; holder: LockingProcess }): Status {
  return output.fail(1, `process ${holder.pid} migrates ${file}; if it does not, remove ${holder.path}`)
}

function lockName(file: string): string {
  return `${file}.journal.lock`
}

function rejectsPath(file: string): string {
  return `${file}.rejects.ndjson`
}
