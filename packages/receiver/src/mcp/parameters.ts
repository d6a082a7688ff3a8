import { Type } from '@sinclair/typebox'

/** Arguments that several tools have. */
export const parameters = {
  q: Type.Optional(
    Type.String({
      maxLength: 1000,
      description:
        'Which records, such as: level>=error app:shop since:1h "card declined". Left out: all. search_logs describes the language.',
    }),
  ),
  since: Type.Optional(
    Type.String({
      pattern: '^(\\d{1,6}[smhd]|\\d{4}-\\d{2}-\\d{2}T[\\d:.]+(Z|\\+00:00))$',
      description: 'a time ago such as 30s, 5m, 2h or 7d, or a time in UTC such as 2026-01-31T12:00:00Z',
    }),
  ),
  app: Type.Optional(Type.String({ description: 'Only this application, by its exact name' })),
  env: Type.Optional(Type.String({ description: 'Only this environment, by its exact name' })),
  step: Type.Optional(
    Type.String({
      pattern: '^[1-9]\\d{0,5}[mhd]$',
      description: 'a number of minutes, hours or days, such as 1m, 5m, 1h or 1d',
    }),
  ),
  /** The cursor of a list whose items have numbers or places. */
  cursor: Type.Optional(
    Type.String({ pattern: '^\\d{1,16}$', description: 'the cursor at the end of the answer before, to go on there' }),
  ),
  /** The cursor of steps. */
  timeCursor: Type.Optional(
    Type.String({
      pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$',
      description: 'the cursor at the end of the answer before, to go on there',
    }),
  ),
} as const

/** The most items of an answer, which also ends at 8 kB. */
export function limitOf(fallback: number, maximum: number) {
  return Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum,
      default: fallback,
      description: `Most items, ${fallback} unless it is said. An answer also ends at 8 kB.`,
    }),
  )
}

/** A query of the API, with its question mark. */
export function queryOf(fields: Readonly<Record<string, string | number | undefined>>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) query.set(name, String(value))
  return query.size === 0 ? '' : `?${query}`
}
