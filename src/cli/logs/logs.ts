import type { Command, CommandLine } from '../command.js'
import { jsonLine, type Output, printPaced, type Status } from '../output.js'
import { follow, readFilters, readingFailure } from '../reading/reading-command.js'
import { ReadingService, type RecordQuery, type Stored } from '../reading/reading-service.js'
import { wordSearch } from '../reading/word-search.js'
import { logRow } from './log-row.js'

interface LogsArguments {
  readonly lines: number
  /** Empty for all levels. */
  readonly levels: readonly string[]
  /** Words of the message. */
  readonly text: string | undefined
  /** The filters of the API beside `level` and `text`. */
  readonly filters: RecordQuery
  readonly follow: boolean
  readonly json: boolean
}

const defaultLines = 100
const maxLines = 100_000
const maxLevels = 20
const maxTextChars = 1000

const help = `Usage: sluice logs [options]

Prints the newest log records that the receiver holds, oldest first, one line each: time in UTC,
level, application, and the first line of the message. Characters that a terminal would obey
appear as signs. It reads the API of sluice-receiver, which other services do not have.

  --follow       go on with the records that arrive, until Ctrl-C
  --lines N      the newest N records, 0 to ${maxLines} (default ${defaultLines})
  --level NAMES  only these levels, exactly as they were logged, with commas between them
  --text WORDS   only messages with all these words, in any order; case and accents are ignored
  --app NAME     only records of this application
  --since TIME   of the records that are there, only those from this time on: 30s, 5m, 2h, 7d or
                 a date in ISO 8601
  --json         print each record as one line of JSON, as the API gives it; a failure is an
                 object with "ok":false
  --help         print this

The service: SLUICE_URL, SLUICE_API_KEY (or SLUICE_API_KEY_FILE) and SLUICE_BUCKET.

--follow comes back after a lost connection and a restart of the receiver, and prints each
record once; its messages go to stderr. It does not go through a proxy. Ctrl-C and SIGTERM end
it, as does the end of the program that reads its output.

Exit status: 0 the records are printed, or --follow was ended; 1 the receiver cannot be reached
or refuses; 2 the command line or the configuration is wrong, or the service is not the receiver.

Examples:
  sluice logs --level warn,error,fatal --since 1h
  sluice logs --follow --app shop --text 'order 17'
  sluice logs --json --lines 1000 | jq -r .message
`

/** The command `sluice logs`. */
export const logs: Command<LogsArguments> = {
  name: 'logs',
  help,
  options: {
    follow: { type: 'boolean', short: 'f' },
    lines: { type: 'string', short: 'n' },
    level: { type: 'string' },
    text: { type: 'string' },
    app: { type: 'string' },
    since: { type: 'string' },
  },
  read,
  run,
  failureOf: readingFailure,
}

function read(line: CommandLine): LogsArguments | string {
  const { texts, flags, operands } = line
  if (operands.length > 0) return `expected no operand, got ${operands.join(', ')}`
  const { lines = String(defaultLines), level, text } = texts
  if (!/^\d{1,6}$/.test(lines) || Number(lines) > maxLines) {
    return `--lines: expected a whole number from 0 to ${maxLines}, got "${lines}"`
  }
  const levels = level === undefined ? [] : [...new Set(level.split(','))]
  if (levels.includes('')) return `--level: expected names with commas between them, got "${level}"`
  if (levels.length > maxLevels) return `--level: expected at most ${maxLevels} names, got ${levels.length}`
  if (text !== undefined && (text.length > maxTextChars || wordSearch(text) === undefined)) {
    return `--text: expected words, at most ${maxTextChars} characters, got "${text.slice(0, maxTextChars)}"`
  }
  const filters = readFilters(line)
  if (typeof filters === 'string') return filters
  return { lines: Number(lines), levels, text, filters, follow: flags.has('follow'), json: flags.has('json') }
}

async function run(given: LogsArguments, output: Output): Promise<Status> {
  const rowOf = (record: Stored<'logs'>) => (given.json ? jsonLine(record) : logRow(record))
  if (given.follow) {
    return await follow({
      kind: 'logs',
      open: (signal) => new ReadingService('logs', signal),
      earlier: (service) => newest(service, given),
      matches: filterOf(given),
      rowOf,
      output,
    })
  }
  const service = new ReadingService('logs')
  try {
    const records = await newest(service, given)
    await printPaced(records.map(rowOf).join(''))
    return 0
  } finally {
    await service.close()
  }
}

/** The newest records that match, oldest first. The API takes one level at a time. */
async function newest(service: ReadingService<'logs'>, given: LogsArguments): Promise<readonly Stored<'logs'>[]> {
  const { lines, levels, text, filters } = given
  const query = { ...filters, ...(text === undefined ? {} : { text }) }
  const queries = levels.length === 0 ? [query] : levels.map((level) => ({ ...query, level }))
  const found: Stored<'logs'>[] = []
  if (lines === 0) await service.check()
  for (const each of queries) for await (const page of service.pages(each, lines)) found.push(...page)
  return found.sort((a, b) => a.id - b.id).slice(-lines || found.length)
}

/** The same filters for the records of the stream, but for `since`. */
function filterOf({ levels, text, filters }: LogsArguments): (record: Stored<'logs'>) => boolean {
  const hasWords = text === undefined ? undefined : wordSearch(text)
  return ({ level, appName, message }) =>
    (levels.length === 0 || levels.includes(level)) &&
    (filters.appName === undefined || filters.appName === appName) &&
    (hasWords === undefined || hasWords(message))
}
