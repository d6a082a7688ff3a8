import { stat } from 'node:fs/promises'
import { ApiError } from '../../content/api-error.js'
import { openContentService } from '../../content/content-client.js'
import type { ContentService } from '../../content/content-service.js'
import { ConfigError } from '../../errors/sluice-error.js'
import { type Clock, systemClock } from '../../runtime/clock.js'
import { Ending, type Status } from '../ending.js'
import { Interruption } from '../interruption.js'
import { Progress } from '../progress.js'
import { printOwn, sayLine } from '../terminal.js'
import { checkLines } from './dry-run.js'
import { FileLock } from './file-lock.js'
import { Journal, JournalError } from './journal.js'
import { readLines } from './line-reader.js'
import { type MigrateArguments, migrateHelp, readMigrateArguments } from './migrate-arguments.js'
import { Migration } from './migration.js'
import { RejectsFile } from './rejects-file.js'
import { checkSummary, migrationSummary } from './summary.js'

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
  const holder = FileLock.holder(lockPath(file))
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
  const lock = FileLock.take(lockPath(file))
  if (typeof lock === 'number') return failForLock(ending, { file, holder: lock })
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

function failForLock(ending: Ending, { file, holder }: { file: string; holder: number }): Status {
  return ending.fail(1, `process ${holder} migrates ${file}; if it does not, remove ${lockPath(file)}`)
}

function lockPath(file: string): string {
  return `${file}.journal.lock`
}

function rejectsPath(file: string): string {
  return `${file}.rejects.ndjson`
}
