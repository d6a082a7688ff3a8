import { readFile } from 'node:fs/promises'
import type { Command, CommandLine } from '../../../../src/cli/command.js'
import { jsonLine, type Output, type Status } from '../../../../src/cli/output.js'
import { pathFault, reasonOf } from '../../../../src/errors/text-of.js'
import { catalogueFaults, catalogueFaultText, type EventCatalogue } from '../../../../src/tracking/event-catalogue.js'
import { countsSummary, type EventNames } from './counts-summary.js'
import type { Place } from './place.js'
import { timeText, visibleLine } from './printed-record.js'
import { follow, placeOptions, readFilters, readingFailure, readPlace, withService } from './reading-command.js'
import type { RecordQuery, Stored } from './reading-service.js'

interface ValuesArguments {
  /** The file of a catalogue with the names of the events. */
  readonly catalogue: string | undefined
  readonly filters: RecordQuery
  /** The step of a table over time, as the API takes it. */
  readonly step: string | undefined
  readonly follow: boolean
  readonly place: Place
  readonly json: boolean
}

const help = `Usage: sluice-receiver values [options]

Counts the value records that the receiver holds by event: number, name, count, and the time of
the latest one in UTC. The receiver counts. It reads the API of sluice-receiver, which other
services do not have.

  --events FILE  a catalogue of events, as for defineEvents, in JSON: shows the names of the events
  --step TIME    count over time, in steps of so many minutes, hours or days: 1m, 5m, 1h, 1d
  --follow       print the values that arrive from now on, one line each, until Ctrl-C
  --app NAME     only records of this application: of more than 100,000, the newest are counted
  --since TIME   count only from this time on: 30s, 5m, 2h, 7d or a date in ISO 8601
  --data DIR     without SLUICE_URL: folder of the receiver (default sluice-data)
  --database URL without SLUICE_URL: PostgreSQL of the receiver
  --json         print one JSON object with the counts; with --follow each record as one line of
                 JSON, as the API gives it; a failure is an object with "ok":false
  --help         print this

The service: SLUICE_URL, SLUICE_API_KEY (or SLUICE_API_KEY_FILE) and SLUICE_BUCKET. Without
SLUICE_URL it joins the receiver that runs on the folder of --data, or reads that folder where none
runs.

--follow comes back after a lost connection and a restart of the receiver, and prints each
record once; its messages go to stderr. Ctrl-C and SIGTERM end it, as does the end of the
program that reads its output.

Exit status: 0 the counts are printed, or --follow was ended; 1 the receiver cannot be reached
or refuses, or no record has a value that a filter names; 2 the command line or the configuration
is wrong, FILE cannot be read or has faults, there is no receiver and no folder of one, or the
service is not the receiver.

Examples:
  sluice-receiver values --events events.json
  sluice-receiver values --since 1h --json | jq .total
  sluice-receiver values --since 1h --step 5m
  sluice-receiver values --follow
`

/** The command `sluice-receiver values`. */
export const values: Command<ValuesArguments> = {
  name: 'sluice-receiver values',
  help,
  options: {
    events: { type: 'string' },
    follow: { type: 'boolean', short: 'f' },
    app: { type: 'string' },
    since: { type: 'string' },
    step: { type: 'string' },
    ...placeOptions,
  },
  read,
  run,
  failureOf(error, { catalogue }) {
    const isOfFile = error.code !== undefined && error.syscall !== undefined && catalogue !== undefined
    return readingFailure(error) ?? (isOfFile ? [2, `--events: ${pathFault(error, { path: catalogue })}`] : undefined)
  },
}

function read(line: CommandLine): ValuesArguments | string {
  const { texts, flags, operands } = line
  if (operands.length > 0) return `expected no operand, got ${operands.join(', ')}`
  const following = flags.has('follow')
  const { since, step, events } = texts
  if (following && since !== undefined) return '--since: expected without --follow, got both'
  if (following && step !== undefined) return '--step: expected without --follow, got both'
  if (step !== undefined && !/^[1-9]\d{0,5}[mhd]$/.test(step)) {
    return `--step: expected minutes, hours or days such as 5m, 1h or 1d, got "${step}"`
  }
  const filters = readFilters(line)
  if (typeof filters === 'string') return filters
  const place = readPlace(line)
  if (typeof place === 'string') return place
  return { catalogue: events, filters, step, follow: following, place, json: flags.has('json') }
}

async function run(given: ValuesArguments, output: Output): Promise<Status> {
  const { catalogue, filters, step, place, json } = given
  const names = catalogue === undefined ? new Map<number, string>() : namesIn(await readFile(catalogue, 'utf8'))
  if (typeof names === 'string') return output.fail(2, `--events: ${catalogue}: ${names}`)
  if (given.follow) {
    return await follow({
      kind: 'values',
      place,
      query: filters,
      earlier: async (service) => {
        const hint = await service.hint(filters)
        if (hint !== undefined) output.complain(hint)
        return []
      },
      matches: ({ appName }) => filters.appName === undefined || filters.appName === appName,
      rowOf: (record) => (json ? jsonLine(record) : valueRow(record, names)),
      output,
    })
  }
  return await withService('values', { place, opens: true }, async (service) => {
    const counts = await service.counts({ ...filters, step })
    const hint = counts.total === 0 ? await service.hint(filters) : undefined
    if (hint !== undefined) return output.fail(1, hint)
    return output.summary(countsSummary(counts, { names, hasSteps: step !== undefined }))
  })
}

function valueRow({ timeStamp, eventId, appName }: Stored<'values'>, names: EventNames): string {
  const name = names.get(eventId)
  const event = name === undefined ? `${eventId}` : `${eventId} ${name}`
  return `${visibleLine(`${timeText(timeStamp)} ${appName} ${event}`)}\n`
}

/** The names of the events of a catalogue, or its first fault. */
function namesIn(text: string): EventNames | string {
  let catalogue: unknown
  try {
    catalogue = JSON.parse(text)
  } catch (error) {
    return `expected JSON: ${reasonOf(error)}`
  }
  const [fault] = catalogueFaults(catalogue)
  if (fault !== undefined) return catalogueFaultText(fault)
  const events = Object.entries(catalogue as EventCatalogue)
  return new Map(events.map(([name, entry]) => [typeof entry === 'number' ? entry : entry.number, name]))
}
