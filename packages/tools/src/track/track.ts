import type { Command, CommandLine } from '../../../../src/cli/command.js'
import { jsonHelp } from '../../../../src/cli/output.js'
import { Rejections } from '../../../../src/cli/rejections.js'
import { droppedTotal } from '../../../../src/delivery/ledger.js'
import { Engine } from '../../../../src/engine/engine.js'
import { type EngineReporter, silentReporter } from '../../../../src/engine/engine-setting.js'
import { counted } from '../../../../src/errors/counted.js'
import { resolve } from '../../../../src/options/resolve.js'
import { reportMisspelt } from '../../../../src/process/configure.js'
import { eventKeyRule, isEventKey } from '../../../../src/records/event-key.js'

const maxCount = 10_000

const help = `Usage: sluice-tools track EVENT [options]

Records that an event has occurred, for shells, cron and CI. EVENT is its number. Ends when the
service has stored it, or after SLUICE_SHUTDOWN_TIMEOUT_MS.

  --key KEY    makes the event idempotent: the service stores an event with this key once.
               ${eventKeyRule}
  --count N    record it N times, 1 to ${maxCount}; not together with --key (default 1)
  --json       ${jsonHelp}
  --help       print this

The service: SLUICE_URL, SLUICE_API_KEY (or SLUICE_API_KEY_FILE) and SLUICE_BUCKET.
SLUICE_APP_NAME, SLUICE_ENV and the other options of records and delivery apply, too, but for the
spool: an event that cannot be stored now is reported, and not kept.

Exit status: 0 every event is stored; 1 an event is not stored, or its answer was lost; 2 the
command line or the configuration is wrong.

Examples:
  sluice-tools track 1001
  sluice-tools track 2001 --key "deploy-$CI_COMMIT_SHA"
  0 3 * * *  backup.sh && sluice-tools track 3001
`

interface TrackArguments {
  readonly eventId: number
  readonly key: string | undefined
  readonly count: number
  readonly json: boolean
}

/** The command `sluice-tools track`. */
export const track: Command<TrackArguments> = {
  name: 'sluice-tools track',
  help,
  options: { key: { type: 'string' }, count: { type: 'string' } },
  read({ texts, flags, operands }: CommandLine) {
    const [event, ...others] = operands
    const { key, count = '1' } = texts
    if (event === undefined) return 'EVENT: expected the number of an event'
    if (others.length > 0) return `EVENT: expected one event, got ${operands.length}: ${operands.join(', ')}`
    if (!isWhole(event, Number.MAX_SAFE_INTEGER)) return `EVENT: expected a whole number from 0, got "${event}"`
    if (!isWhole(count, maxCount) || count === '0')
      return `--count: expected a whole number from 1 to ${maxCount}, got "${count}"`
    if (key !== undefined && !isEventKey(key)) return `--key: expected ${eventKeyRule}, got "${key}"`
    if (key !== undefined && texts.count !== undefined) return '--key and --count: expected one of them, got both'
    return { eventId: Number(event), key, count: Number(count), json: flags.has('json') }
  },
  async run({ eventId, key, count }, output) {
    reportMisspelt()
    const resolution = resolve({}, { environment: process.env, needs: 'values', folder: process.cwd() })
    if (resolution.state === 'off') {
      return resolution.reason === 'not-configured'
        ? output.fail(2, 'there is nowhere to send events to: set SLUICE_URL, SLUICE_API_KEY and SLUICE_BUCKET')
        : output.fail(1, 'Sluice is disabled (SLUICE_DISABLED): nothing is sent')
    }
    const rejections = new Rejections()
    const reporter = (): EngineReporter => ({ ...silentReporter, rejected: (_, { reason }) => rejections.add(reason) })
    const engine = new Engine(
      { ...resolution.options, spoolDir: undefined, debug: false },
      { kinds: ['values'], reporter },
    )
    for (let left = count; left > 0; left--) {
      if (key === undefined) engine.value(eventId, Date.now())
      else engine.keyedValue({ eventId, milliseconds: Date.now(), key })
    }
    const ledger = await engine.close()
    const { delivered, rejected } = ledger
    const lost = droppedTotal(ledger)
    const reason = ledger.lanes[0]?.lastError ?? null
    return output.summary({
      ok: delivered === count,
      facts: { event: eventId, count, stored: delivered, rejected, rejections: rejections.list, lost, reason },
      lines: [
        `${delivered} of ${counted(count, 'event')} stored`,
        rejected > 0 && `${rejected} rejected:`,
        ...rejections.lines,
        lost > 0 && `${lost} not stored: ${reason ?? 'the service did not answer in time'}`,
      ],
    })
  },
}

function isWhole(text: string, most: number): boolean {
  return /^\d{1,16}$/.test(text) && Number(text) <= most
}
