import { resolve as absolutePath } from 'node:path'
import { ConfigError } from '../../errors/sluice-error.js'
import { openSender } from '../../http/open-sender.js'
import { proxyFor } from '../../http/proxy.js'
import { resolve } from '../../options/resolve.js'
import { ApiKey } from '../../options/secret.js'
import { type Clock, systemClock } from '../../runtime/clock.js'
import { userAgent } from '../../runtime/version.js'
import { Ending, type Status } from '../ending.js'
import { Interruption } from '../interruption.js'
import { Progress } from '../progress.js'
import { printOwn, sayLine } from '../terminal.js'
import { RecordsToSend } from './records-to-send.js'
import { type ReplayArguments, readReplayArguments, replayHelp } from './replay-arguments.js'
import { Replay } from './replay-run.js'
import { checkedSummary, replaySummary } from './replay-summary.js'
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
