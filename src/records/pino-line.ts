import type { MappedLog } from './encode.js'
import type { pinoMapper } from './from-pino.js'

/** Map a line as pino has written it. What is not JSON is a message: not everything that writes to a stream of pino's is pino. */
export function mapPinoLine(
  map: ReturnType<typeof pinoMapper>,
  line: string,
  { messageKey = 'msg', arrivedAt }: { messageKey?: string | undefined; arrivedAt: number },
): MappedLog {
  const value = parsed(line)
  if (typeof value === 'object' && value !== null) return map(value as Record<string, unknown>, arrivedAt)
  return map({ level: 30, [messageKey]: typeof value === 'string' ? value : line }, arrivedAt)
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
