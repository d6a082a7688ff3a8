import { resolve as absolutePath } from 'node:path'
import { ConfigError } from '../../errors/sluice-error.js'
import { openSender } from '../../http/auto-sender.js'
import { proxyFor } from '../../http/proxy.js'
import { resolve } from '../../options/resolve.js'
import { ApiKey } from '../../options/secret.js'
import { type Clock, systemClock } from '../../runtime/clock.js'
import { userAgent } from '../../runtime/version.js'
import { readArguments } from '../arguments.js'
import { Interruption } from '../interruption.js'
import { Ending, jsonHelp, printOwn, type Status, type Summary, sayLine } from '../output.js'
import { Progress } from '../progress.js'
import { rejectionLines, rejectionList } from '../rejections.js'
import { RecordsToSend } from './records-to-send.js'
import type { ReplayAccount } from './run.js'
import { Replay } from './run.js'
import { SpoolFolders } from './spool-folders.js'

/** The command `sluice replay`: resolves with the exit status. */
export async function replay(written: readonly string[]): Promise<number> {
  const request = readReplayArguments(written)
  if (request.type === 'help') {
    printOwn(replayHelp)
    return 0
  }
  if (request.type === 'wrong') return new Ending('replay').wrong(request.message)
  const { dir, json } = request.arguments
  const ending = new Ending('replay', { json })
  try {
    return await carryOut(request.arguments, { ending, clock: systemClock })
  } catch (error) {
    if (error instanceof ConfigError) return ending.fail(2, error.message)
    const { code, path, message } = error as NodeJS.ErrnoException
    if (code !== undefined && path === absolutePath(dir)) return ending.fail(2, `DIR: cannot read ${dir}: ${code}`)
    if (code !== undefined) return ending.fail(1, message)
    throw error
  }
}

async function carryOut(
  { dir, dryRun, limitRate }: ReplayArguments,
  { ending, clock }: { readonly ending: Ending; readonly clock: Clock },
): Promise<Status> {
  // Records bring their buckets.
  const { options } = dryRun
    ? resolve({ disabled: true }, { environment: {}, needs: 'logs' })
    : resolve({ bucket: 'of the record', disabled: false }, { environment: process.env, needs: 'logs' })
  const folders = await SpoolFolders.hold(dir, { clock, say: sayLine })
  if ('refused' in folders) return ending.fail(1, folders.refused)
  let progress: Progress | undefined
  const interruption = new Interruption(
    (text) => (progress === undefined ? sayLine(text) : progress.say(text)),
    'records',
  )
  try {
    const records = await RecordsToSend.of(folders.files)
    if (dryRun) return ending.summary(checkedSummary(records))
    progress = new Progress({ screen: process.stderr, clock, totalBytes: records.bytes })
    const { url, maxConnections, maxBatch, pipelining, requestTimeoutMs } = options
    const proxy = proxyFor(url, process.env)
    const apiKey = new ApiKey(options.apiKey, options.apiKeyFile)
    const run = new Replay({
      records,
      sender: openSender({
        url,
        apiKey,
        userAgent,
        maxConnections,
        maxBatch,
        pipelining,
        proxyUrl: proxy.type === 'proxy' ? proxy.url : undefined,
        requestTimeoutMs,
        clock,
        left: (reason) => progress?.say(`requests are not pipelined any more: ${reason}`),
      }),
      options,
      limitRate,
      progress,
      clock,
      random: Math.random,
      signal: interruption.signal,
      turn: () => folders.touch(),
    })
    await run.run()
    progress.end()
    return ending.summary(replaySummary(run.account, { records, stopped: run.stopped }))
  } finally {
    progress?.end()
    interruption.end()
    folders.release()
  }
}

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

/** What a replay came to. */
export function replaySummary(
  { delivered, rejected }: ReplayAccount,
  { records, stopped }: { readonly records: RecordsToSend; readonly stopped: string | undefined },
): Summary {
  const refused = [...rejected.values()].reduce((sum, count) => sum + count, 0)
  const left = records.records - delivered - refused
  const { damaged } = records
  return {
    ok: delivered === records.records && damaged === 0,
    facts: {
      records: records.records,
      delivered,
      rejected: refused,
      rejections: rejectionList(rejected),
      left,
      damaged,
      stopped: stopped ?? null,
    },
    lines: [
      `${delivered} of ${records.records} records delivered${noneThere(records)}`,
      ...(refused === 0 ? [] : [`${refused} rejected, still there:`]),
      ...rejectionLines(rejected),
      ...(left === 0 ? [] : [`${left} not delivered, still there`]),
      ...damagedLines(records),
      ...(stopped === undefined ? [] : [`stopped: ${stopped}`]),
      ...(left === 0 ? [] : ['to go on, give the same command again']),
    ],
  }
}

function noneThere({ records, damaged }: RecordsToSend): string {
  return records + damaged === 0 ? ': there are none in this folder' : ''
}

/** What there is to be sent. */
export function checkedSummary(records: RecordsToSend): Summary {
  const lanes = records.lanes.map(({ kind, bucket }, lane) => ({ kind, bucket, records: records.counts[lane] }))
  const lines = lanes.map(({ kind, bucket, records }) => `  ${records} ${kind} of bucket ${bucket}`)
  const { damaged } = records
  return {
    ok: damaged === 0,
    facts: { records: records.records, lanes, damaged },
    lines: [`${records.records} records${noneThere(records)}; nothing was sent`, ...lines, ...damagedLines(records)],
  }
}

function damagedLines({ damaged }: RecordsToSend): string[] {
  return damaged === 0 ? [] : [`${damaged} damaged lines are kept in files of the name FILE.damaged`]
}
