import { styleText } from 'node:util'
import { type Severity, severityOfName } from '../../../../src/records/level.js'
import type { LogRecord } from '../../../../src/records/wire.js'
import { timeText, visibleLine } from './printed-record.js'

const colours: Readonly<Partial<Record<Severity, 'dim' | 'green' | 'yellow' | 'red'>>> = {
  0: 'dim',
  1: 'dim',
  2: 'green',
  3: 'yellow',
  4: 'red',
  5: 'red',
}
const levelWidth = 5

/** A record in one line: time, level, application and message. In colour where stdout shows colours. */
export function logRow({ timeStamp, level, appName, message }: LogRecord): string {
  const name = visibleLine(String(level)).padEnd(levelWidth)
  const colour = colours[severityOfName(String(level)) ?? 2] ?? 'green'
  const head = `${styleText('dim', timeText(timeStamp))} ${styleText(colour, name)}`
  return `${head} ${styleText('cyan', visibleLine(String(appName)))} ${visibleLine(String(message))}\n`
}
