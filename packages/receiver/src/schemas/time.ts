import { Type } from '@sinclair/typebox'

/** A time as the API writes it. `format` checks the calendar, `pattern` checks for UTC. */
export const utcTimeSchema = Type.String({
  format: 'date-time',
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:[0-5]\\d(\\.\\d{1,9})?(Z|\\+00:00)$',
  description: 'an ISO 8601 time in UTC, such as 2024-01-31T12:00:00Z',
})
