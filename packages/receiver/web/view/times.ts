const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** The moment that a written time means, in ms: ISO 8601, or `-15m` for 15 minutes before now (`m`, `h`, `d`). */
export function momentOf(written: string | undefined, now: number): number | undefined {
  if (written === undefined) return undefined
  const [, count, unit] = /^-(\d+)([mhd])$/.exec(written) ?? []
  const ms = count === undefined ? Date.parse(written) : now - Number(count) * unitMs[unit as keyof typeof unitMs]
  return Number.isFinite(ms) ? ms : undefined
}
