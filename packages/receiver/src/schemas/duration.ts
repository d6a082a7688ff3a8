const unitMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Length of a time such as `30s`, `5m`, `2h` or `7d`, in ms; undefined for any other text. */
export function msOf(written: string): number | undefined {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(written) ?? []
  return unit === undefined ? undefined : Number(count) * unitMs[unit as keyof typeof unitMs]
}
