import { Type } from '@sinclair/typebox'

/** A time as the API writes it. `format` checks the calendar, `pattern` checks for UTC. */
export const utcTimeSchema = Type.String({
  format: 'date-time',
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:[0-5]\\d(\\.\\d{1,9})?(Z|\\+00:00)$',
  description: 'an ISO 8601 time in UTC, such as 2024-01-31T12:00:00Z',
})

const unitMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Length of a time such as `30s`, `5m`, `2h` or `7d`, in ms; undefined for any other text. */
export function msOf(written: string): number | undefined {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(written) ?? []
  return unit === undefined ? undefined : Number(count) * unitMs[unit as keyof typeof unitMs]
}
