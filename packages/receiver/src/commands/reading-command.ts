import type { CommandLine } from '../../../../src/cli/command.js'
import { failureWords } from '../../../../src/cli/next-step.js'
import { type Output, printPaced, type Status } from '../../../../src/cli/output.js'
import { ApiError } from '../../../../src/content/api-error.js'
import type { RecordKind } from '../../../../src/records/wire.js'
import { OptionError, readSome } from '../options/read-options.js'
import { Following } from './following.js'
import type { Place } from './place.js'
import { NoReceiverError, ReadingService, type RecordQuery, type Stored } from './reading-service.js'
import { NoneRunsError, readingTarget } from './reading-target.js'
import { sinceForms, sinceTime } from './since.js'

/** The filters that both commands have, as a query of the API, or a message for a wrong option. */
export function readFilters({ texts }: CommandLine): RecordQuery | string {
  const { app, since } = texts
  const time = since === undefined ? undefined : sinceTime(since)
  if (since !== undefined && time === undefined) return `--since: expected ${sinceForms}, got "${since}"`
  return { appName: app, since: time }
}

/** The status and the message for an expected error of reading. */
export function readingFailure(error: Error): readonly [Status, string] | undefined {
  if (error instanceof NoReceiverError) return [2, error.message]
  if (error instanceof NoneRunsError) return [error.hasStore ? 1 : 2, error.message]
  return error instanceof ApiError ? [1, failureWords(error)] : undefined
}

/** The options of both commands that say where the receiver runs. */
export const placeOptions = { data: { type: 'string' }, database: { type: 'string' } } as const

/** Where the receiver runs if no variable says it, or a message for a wrong option. */
export function readPlace({ texts }: CommandLine): Place | string {
  try {
    return readSome(['data', 'database'], { written: texts, environment: process.env })
  } catch (error) {
    if (error instanceof OptionError) return error.message
    throw error
  }
}

/** Reads from the receiver that a command means. */
export async function withService<Kind extends RecordKind, Result>(
  kind: Kind,
  { place, opens, signal }: { readonly place: Place; readonly opens: boolean; readonly signal?: AbortSignal },
  work: (service: ReadingService<Kind>) => Promise<Result>,
): Promise<Result> {
  const target = await readingTarget(place, { name: kind, needs: kind, opens })
  const service = new ReadingService(kind, { options: target.options, ...(signal === undefined ? {} : { signal }) })
  try {
    return await work(service)
  } finally {
    await service.close()
    // A store that is gone has no key any more.
    await target.close().catch(() => {})
  }
}

export interface FollowPlan<Kind extends RecordKind> {
  readonly kind: Kind
  readonly place: Place
  /** The filters of the API for records that the stream leaves out. */
  readonly query: RecordQuery
  /** Reads the records from before, oldest first. */
  readonly earlier: (service: ReadingService<Kind>) => Promise<readonly Stored<Kind>[]>
  /** True for a record of the stream that is to be printed. */
  readonly matches: (record: Stored<Kind>) => boolean
  readonly rowOf: (record: Stored<Kind>) => string
  readonly output: Output
}

const signals = ['SIGINT', 'SIGTERM'] as const

/** Print records from before and as they arrive, until a signal comes or the reader of stdout has gone. */
export async function follow<Kind extends RecordKind>(plan: FollowPlan<Kind>): Promise<Status> {
  const { kind, earlier, matches, rowOf, output } = plan
  // `since` is for the records from before.
  const { since: _, ...streamed } = plan.query
  const ending = new AbortController()
  const { signal } = ending
  // A second signal ends the process at once.
  const end = () => ending.abort()
  for (const name of signals) process.once(name, end)
  process.stdout.once('error', end)
  try {
    await withService(kind, { place: plan.place, opens: false, signal }, async (service) => {
      const following = new Following({
        service,
        kind,
        signal,
        say: (text) => output.complain(text),
        earlier: () => earlier(service),
        missed: (after) => service.following(streamed, after),
      })
      for await (const records of following.records()) {
        const text = records.filter(matches).map(rowOf).join('')
        if (text !== '') await printPaced(text)
      }
    })
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    for (const name of signals) process.off(name, end)
    process.stdout.off('error', end)
  }
  return 0
}
