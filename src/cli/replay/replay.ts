import { resolve as absolutePath } from 'node:path'
import { maxBatch } from '../../delivery/batch.js'
import { counted } from '../../errors/counted.js'
import { pathFault } from '../../errors/text-of.js'
import { openSender } from '../../http/auto-sender.js'
import { proxyFor } from '../../http/proxy.js'
import { resolve } from '../../options/resolve.js'
import { ApiKey } from '../../options/secret.js'
import { systemClock } from '../../runtime/clock.js'
import { systemLoop } from '../../runtime/loop.js'
import { userAgent } from '../../runtime/version.js'
import type { Command } from '../command.js'
import { Interruption } from '../interruption.js'
import { jsonHelp, type Output, type Status, type Summary } from '../output.js'
import { byReason, dropDeadLetters, letterFiles, lettersFolder, listDeadLetters, noLetters } from './dead-letters.js'
import type { ReplayAccount } from './records-in-memory.js'
import { RecordsToSend } from './records-to-send.js'
import { Replay } from './run.js'
import { SpoolFolders } from './spool-folders.js'

interface ReplayArguments {
  readonly dir: string
  readonly mode: 'send' | 'dry-run' | 'list' | 'drop'
  /** Only dead letters whose reason contains this text. */
  readonly reason: string | undefined
  /** Drop without a question. */
  readonly yes: boolean
  readonly json: boolean
  /** Records a second, at most. */
  readonly limitRate: number
}

const help = `Usage: sluice replay DIR [--reason TEXT] [--dry-run] [--limit-rate N]
       sluice replay DIR --list [--reason TEXT]
       sluice replay DIR --drop (--reason TEXT | --all) [--yes]

Sends the records of a spool or of a dead-letter folder: records that a process has left, or
that were copied from another machine. DIR is the folder of SLUICE_SPOOL_DIR, one of the
folders in it, or its dead-letter folder. Dead letters are records that the service has rejected.
They are sent only when DIR is their folder, or with --reason.

  --reason TEXT    only the dead letters whose reason contains TEXT; DIR may be the spool
  --dry-run        send nothing; count the records
  --limit-rate N   at most N records a second
  --list           print the dead letters by reason, kind and bucket; with --json each of them
  --drop           remove dead letters for ever; asks before
  --all            with --drop: all that are there now
  --yes            with --drop: without a question
  --json           ${jsonHelp}
  --help           print this

The service: SLUICE_URL and SLUICE_API_KEY (or SLUICE_API_KEY_FILE). Each record names its
bucket.

A dead letter is a line of JSON: correct its record in any editor, then replay. A record that was
changed gets an idempotency key of its own.

Delivered records are removed from DIR. The same command, given again, continues where the last
one ended, however it ended. Records that were on their way when it was killed are sent again
with the same idempotency key. Rejected records stay where they are. Files with damaged lines
stay, too, as FILE.damaged. The folder of a running process is refused.

Ctrl-C or SIGTERM: it takes no further record and waits for the records under way. A second
signal ends it at once.

Exit status: 0 all records were delivered (--dry-run: could be read), 1 some were not, 2 the
command line or the configuration is wrong.

Examples:
  sluice replay /var/spool/shop --limit-rate 500
  sluice replay /var/spool/shop --list
  sluice replay /var/spool/shop --reason 'level: expected' --dry-run
  sluice replay /var/spool/shop --drop --reason 'level: expected'
`

/** The command `sluice replay`. */
export const replay: Command<ReplayArguments> = {
  name: 'sluice replay',
  help,
  options: {
    reason: { type: 'string' },
    'dry-run': { type: 'boolean' },
    'limit-rate': { type: 'string' },
    list: { type: 'boolean' },
    drop: { type: 'boolean' },
    all: { type: 'boolean' },
    yes: { type: 'boolean' },
  },
  read({ texts, flags, operands }) {
    const [dir, ...more] = operands
    if (dir === undefined) return 'DIR: expected the name of a folder, got none'
    if (more.length > 0) return `DIR: expected one folder, got ${operands.length}: ${operands.join(', ')}`
    const [mode = 'send', second] = modes.filter((each) => flags.has(each))
    if (second !== undefined) return `--${second}: expected without --${mode}, got both`
    const { reason, 'limit-rate': rate } = texts
    const isDrop = mode === 'drop'
    const strange = isDrop ? undefined : ['all', 'yes'].find((name) => flags.has(name))
    if (strange !== undefined) return `--${strange}: expected together with --drop, got it alone`
    if (isDrop && flags.has('all') === (reason !== undefined)) {
      return `--drop: expected --reason TEXT or --all, got ${reason === undefined ? 'neither' : 'both'}`
    }
    if (rate !== undefined && (isDrop || mode === 'list')) return `--limit-rate: expected without --${mode}, got both`
    if (rate !== undefined && !/^[1-9]\d*$/.test(rate)) {
      return `--limit-rate: expected a whole number from 1, got "${rate}"`
    }
    const limitRate = rate === undefined ? Number.POSITIVE_INFINITY : Number(rate)
    return { dir, mode, reason, yes: flags.has('yes'), json: flags.has('json'), limitRate }
  },
  run,
  failureOf(error, { dir }) {
    const { code, path, message } = error
    if (code === undefined) return undefined
    return path === absolutePath(dir) ? [2, pathFault(error, { path: dir, kind: 'folder' })] : [1, message]
  },
}

const modes = ['list', 'drop', 'dry-run'] as const

async function run(given: ReplayArguments, output: Output): Promise<Status> {
  const { dir, mode, reason, json, yes } = given
  const chosen = byReason(reason)
  if (mode === 'list') return await listDeadLetters(lettersFolder(dir), { chosen, json, output })
  if (mode === 'drop') return await dropDeadLetters(lettersFolder(dir), { chosen, yes, output })
  return await send(given, output)
}

async function send({ dir, mode, reason, limitRate }: ReplayArguments, output: Output): Promise<Status> {
  const clock = systemClock
  const dryRun = mode === 'dry-run'
  // A bucket is not needed, because every record names its own.
  const { options } = dryRun
    ? resolve({ disabled: true }, { environment: {}, needs: 'logs' })
    : resolve({ bucket: 'of the record', disabled: false }, { environment: process.env, needs: 'logs' })
  const say = (text: string) => output.say(text)
  const folder = reason === undefined ? dir : lettersFolder(dir)
  if (reason !== undefined && letterFiles(folder, say).length === 0) {
    return output.summary({ ok: true, facts: { records: 0, delivered: 0 }, lines: [noLetters] })
  }
  const folders = await SpoolFolders.hold(folder, { clock, say })
  if ('refused' in folders) return output.fail(1, folders.refused)
  const interruption = new Interruption(say, 'records')
  try {
    const records = new RecordsToSend(folders.files, reason === undefined ? undefined : byReason(reason))
    if (dryRun) return output.summary(countSummary(records))
    const progress = output.showProgress({ clock, totalBytes: records.bytes })
    const { url, maxConnections, pipelining, requestTimeoutMs } = options
    const proxy = proxyFor(url, process.env)
    const replay = new Replay({
      records,
      sender: openSender({
        url,
        apiKey: new ApiKey(options.apiKey),
        userAgent,
        maxConnections,
        maxBatch,
        pipelining,
        proxyUrl: proxy.type === 'proxy' ? proxy.url : undefined,
        requestTimeoutMs,
        loop: systemLoop,
        left: (reason) => say(`requests are not pipelined any more: ${reason}`),
      }),
      options,
      limitRate,
      progress,
      loop: systemLoop,
      random: Math.random,
      signal: interruption.signal,
      turn: () => folders.touch(),
    })
    await replay.run()
    return output.summary(replaySummary(replay.account, { records, stopped: replay.stopped }))
  } finally {
    interruption.end()
    folders.release()
  }
}

function replaySummary(
  { delivered, rejected }: ReplayAccount,
  { records: found, stopped }: { readonly records: RecordsToSend; readonly stopped: string | undefined },
): Summary {
  const { records, damaged } = found
  const left = records - delivered - rejected.total
  return {
    ok: delivered === records && damaged === 0,
    facts: {
      records,
      delivered,
      rejected: rejected.total,
      rejections: rejected.list,
      left,
      damaged,
      stopped: stopped ?? null,
    },
    lines: [
      `${delivered} of ${counted(records, 'record')} delivered${noneFound(found)}`,
      rejected.total > 0 && `${rejected.total} rejected, still there:`,
      ...rejected.lines,
      left > 0 && `${left} not delivered, still there`,
      damagedLine(found),
      stopped !== undefined && `stopped: ${stopped}`,
      left > 0 && 'to go on, give the same command again',
    ],
  }
}

function countSummary(found: RecordsToSend): Summary {
  const { records, damaged, counts } = found
  const lanes = found.lanes.map(({ kind, bucket }, lane) => ({ kind, bucket, records: counts[lane] }))
  return {
    ok: damaged === 0,
    facts: { records, lanes, damaged },
    lines: [
      `${counted(records, 'record')}${noneFound(found)}; nothing was sent`,
      ...lanes.map(({ kind, bucket, records }) => `  ${records} ${kind} of bucket ${bucket}`),
      damagedLine(found),
    ],
  }
}

function noneFound({ records, damaged }: RecordsToSend): string {
  return records + damaged === 0 ? ': there are none in this folder' : ''
}

function damagedLine({ damaged }: RecordsToSend): string | false {
  return damaged > 0 && `damaged lines: ${damaged}, kept in files named FILE.damaged`
}
