import { styleText } from 'node:util'
import { type Severity, severityOfName } from '../../../../src/records/level.js'
import type { LogRecord } from '../../../../src/records/wire.js'
import { stackIn } from '../storage/records/error-stack.js'
import { timeText, visibleLine, visibleLines } from './printed-record.js'

const colours: Readonly<Partial<Record<Severity, 'dim' | 'green' | 'yellow' | 'red'>>> = {
  0: 'dim',
  1: 'dim',
  2: 'green',
  3: 'yellow',
  4: 'red',
  5: 'red',
}
const levelWidth = 5

/**
 * A record in one line: time, level, application, message, and type and message of an error. With `full` the other lines of the message and the
 * stack follow. In colour where stdout shows colours.
 */
export function logRow(
  { timeStamp, level, appName, message }: LogRecord,
  { full = false }: { readonly full?: boolean } = {},
): string {
  const name = visibleLine(String(level)).padEnd(levelWidth)
  const colour = colours[severityOfName(String(level)) ?? 2] ?? 'green'
  const head = `${styleText('dim', timeText(timeStamp))} ${styleText(colour, name)}`
  const text = String(message)
  const shown = full ? visibleLines(text) : visibleLine(summaryOf(text))
  return `${head} ${styleText('cyan', visibleLine(String(appName)))} ${shown}\n`
}

/** Type and message of the error whose stack a message has. */
function errorLineOf(message: string): string | undefined {
  const stack = stackIn(message)
  return stack && [stack.type, stack.message].filter((part) => part !== null && part !== '').join(': ')
}

/** The first line of a message, with that of its error behind it. What it leaves out stays as further lines. */
function summaryOf(message: string): string {
  const error = errorLineOf(message) ?? wholeError.exec(message)?.[0]
  const [first = ''] = message.split(/\r?\n/, 1)
  if (error === undefined || error === first) return message
  // pino logs an error alone with its message.
  return `${error.endsWith(`: ${first}`) ? error : `${first}: ${error}`}\n…`
}

/** An error that has no stack: one line behind the message. */
const wholeError = /(?<=\n)[\w$.]*(?:Error|Exception)(?: \[[^\]\n]*\])?(?:: .*)?$/
