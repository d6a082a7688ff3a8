import type { Command, CommandLine } from '../../../../src/cli/command.js'
import { jsonLine, type Output, printPaced, type Status } from '../../../../src/cli/output.js'
import { levelNames } from '../../../../src/records/level.js'
import { timeOf } from '../../../../src/records/time.js'
import type { LevelName } from '../client/reading-query.js'
import { meetsQuery } from '../query/meets-query.js'
import { parseQuery } from '../query/parse-query.js'
import { QueryError } from '../query/query-error.js'
import { queryOfFilter } from '../storage/records/filter-query.js'
import { withQuery } from '../storage/records/filter-with-query.js'
import { phrasesIn } from '../storage/records/words.js'
import { logRow } from './log-row.js'
import type { Place } from './place.js'
import { follow, placeOptions, readFilters, readingFailure, readPlace, withService } from './reading-command.js'
import type { ReadingService, RecordQuery, Stored } from './reading-service.js'

interface LogsArguments {
  readonly lines: number
  /** All filters of the API. */
  readonly query: RecordQuery
  /** The same filters for the records of the stream, but for `since`. */
  readonly matches: (record: Stored<'logs'>) => boolean
  readonly follow: boolean
  /** Print whole messages, with the stacks of errors. */
  readonly full: boolean
  readonly place: Place
  readonly json: boolean
}

const defaultLines = 100
const maxLines = 100_000
const maxLevels = 20
const maxTextChars = 1000

const help = `Usage: sluice-receiver logs [options] [QUERY]

Prints the newest log records that the receiver holds, one line each: time in UTC, level,
application, the first line of the message, and type and message of an error. They are sorted by
time, records of the same time by arrival. Characters that a terminal would obey appear as signs.
It reads the API of sluice-receiver, which other services do not have.

  QUERY             only records that it means, such as 'level>=warn checkout -health',
                    'res.statusCode>=500' or 'reqId:req-21c OR user.id:*'; docs/searching.md has
                    the language

  --follow          go on with the records that arrive, until Ctrl-C
  --full            print whole messages, with the stacks of errors
  --lines N         the newest N records, 0 to ${maxLines} (default ${defaultLines})
  --level NAMES     only these levels, exactly as they were logged, with commas between them
  --min-level NAME  only this level and those above: trace, debug, info, warn, error, fatal and
                    their names in other loggers; levels of other names are left out
  --text WORDS      only messages with all these words, in any order; case and accents are ignored
  --not-text WORDS  only messages with none of these words
  --app NAME        only records of this application
  --machine NAME    only records of this machine
  --since TIME      of the records that are there, only those from this time on: 30s, 5m, 2h, 7d
                    or a date in ISO 8601
  --data DIR        without SLUICE_URL: folder of the receiver (default sluice-data)
  --database URL    without SLUICE_URL: PostgreSQL of the receiver
  --json            print each record as one line of JSON, as the API gives it; a failure is an
                    object with "ok":false
  --help            print this

The service: SLUICE_URL, SLUICE_API_KEY (or SLUICE_API_KEY_FILE) and SLUICE_BUCKET. Without
SLUICE_URL it joins the receiver that runs on the folder of --data, or reads that folder where none
runs.

--follow comes back after a lost connection and a restart of the receiver, and prints each
record once; its messages go to stderr. Ctrl-C and SIGTERM end it, as does the end of the
program that reads its output.

Exit status: 0 the records are printed, or --follow was ended; 1 the receiver cannot be reached
or refuses, or no record has a value that a filter names; 2 the command line or the configuration
is wrong, there is no receiver and no folder of one, or the service is not the receiver.

Examples:
  sluice-receiver logs --follow 'level>=warn -health'
  sluice-receiver logs --min-level warn --since 1h --not-text health
  sluice-receiver logs --follow --app shop --text 'order 17'
  sluice-receiver logs --json --lines 1000 | jq -r .message
`

/** The command `sluice-receiver logs`. */
export const logs: Command<LogsArguments> = {
  name: 'sluice-receiver logs',
  help,
  options: {
    follow: { type: 'boolean', short: 'f' },
    full: { type: 'boolean' },
    lines: { type: 'string', short: 'n' },
    level: { type: 'string' },
    'min-level': { type: 'string' },
    text: { type: 'string' },
    'not-text': { type: 'string' },
    app: { type: 'string' },
    machine: { type: 'string' },
    since: { type: 'string' },
    ...placeOptions,
  },
  read,
  run,
  failureOf: readingFailure,
}

function read(line: CommandLine): LogsArguments | string {
  const { texts, flags, operands } = line
  const { lines = String(defaultLines), level, 'min-level': least, text, 'not-text': notText, machine } = texts
  if (!/^\d{1,6}$/.test(lines) || Number(lines) > maxLines) {
    return `--lines: expected a whole number from 0 to ${maxLines}, got "${lines}"`
  }
  const levels = level === undefined ? undefined : [...new Set(level.split(','))]
  if (levels?.includes('')) return `--level: expected names with commas between them, got "${level}"`
  if (levels !== undefined && levels.length > maxLevels) {
    return `--level: expected at most ${maxLevels} names, got ${levels.length}`
  }
  if (least !== undefined && !levelNames.includes(least)) {
    return `--min-level: expected one of ${levelNames.join(', ')}, got "${least}"`
  }
  if (!isSearch(text)) return wrongWords('text', text)
  if (!isSearch(notText)) return wrongWords('not-text', notText)
  const filters = readFilters(line)
  if (typeof filters === 'string') return filters
  const place = readPlace(line)
  if (typeof place === 'string') return place
  const minLevel = least as LevelName | undefined
  const asked = { machineName: machine, minLevel, text, notText }
  const q = operands.join(' ')
  try {
    const { appName } = filters
    const filter = withQuery({ kind: 'logs', bucket: '', ...asked, appName, levels }, parseQuery(q, Date.now()))
    const wanted = queryOfFilter(filter)!
    return {
      lines: Number(lines),
      query: { ...filters, ...asked, level: levels, q: q === '' ? undefined : q },
      matches: (record) => meetsQuery(record, wanted),
      follow: flags.has('follow'),
      full: flags.has('full'),
      place,
      json: flags.has('json'),
    }
  } catch (error) {
    if (error instanceof QueryError) return error.message
    throw error
  }
}

/** True for words, and for none that were asked for. */
function isSearch(words: string | undefined): boolean {
  return words === undefined || (words.length <= maxTextChars && phrasesIn(words).length > 0)
}

function wrongWords(option: string, text = ''): string {
  return `--${option}: expected words, at most ${maxTextChars} characters, got "${text.slice(0, maxTextChars)}"`
}

/** Applications may write times in other units. */
function timeIn({ timeStamp }: Stored<'logs'>): number {
  return timeOf(timeStamp) ?? timeStamp
}

async function run(given: LogsArguments, output: Output): Promise<Status> {
  const { lines, query, matches, json, full, place, follow: following } = given
  const read = async (service: ReadingService<'logs'>) => {
    const records = (await service.newest(query, lines)).sort((a, b) => timeIn(a) - timeIn(b) || a.id - b.id)
    return { records, hint: records.length === 0 && lines > 0 ? await service.hint(query) : undefined }
  }
  const rowOf = (record: Stored<'logs'>) => (json ? jsonLine(record) : logRow(record, { full }))
  if (following) {
    return await follow({
      kind: 'logs',
      place,
      query,
      earlier: async (service) => {
        const { records, hint } = await read(service)
        if (hint !== undefined) output.complain(hint)
        return records
      },
      matches,
      rowOf,
      output,
    })
  }
  return await withService('logs', { place, opens: true }, async (service) => {
    if (lines === 0) await service.newestId()
    const { records, hint } = await read(service)
    if (hint !== undefined) return output.fail(1, hint)
    await printPaced(records.map(rowOf).join(''))
    return 0
  })
}
