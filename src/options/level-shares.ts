/** Shares of lines by the name of a level in lower case. */
export type LevelShares = Readonly<Record<string, number>>

const maxLevels = 100
const maxNameChars = 60

const bounds = `1 to ${maxLevels} levels, each once, with names of 1 to ${maxNameChars} characters and shares from 0 to 1`
export const levelSharesExpected = `an object such as { debug: 0.01, info: 0.25 }: ${bounds}`
export const levelSharesTextExpected = `a text such as debug:0.01,info:0.25: ${bounds}`

/** The complete settings, with names in lower case; undefined for an invalid option. */
export function checkLevelShares(value: unknown): LevelShares | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  return sharesOf(Object.entries(value))
}

/** The settings of a text such as `debug:0.01,info:0.25`; undefined for an invalid one. */
export function readLevelShares(text: string): LevelShares | undefined {
  return sharesOf(
    text.split(',').map((part) => {
      const colon = part.lastIndexOf(':')
      const share = part.slice(colon + 1).trim()
      return [part.slice(0, Math.max(0, colon)).trim(), /^(\d+|\d*\.\d+)$/.test(share) ? Number(share) : undefined]
    }),
  )
}

function sharesOf(entries: readonly (readonly [name: string, share: unknown])[]): LevelShares | undefined {
  if (entries.length === 0 || entries.length > maxLevels) return undefined
  const shares = new Map<string, number>()
  for (const [name, share] of entries) {
    if (name === '' || name.length > maxNameChars || !isShare(share)) return undefined
    shares.set(name.toLowerCase(), share)
  }
  return shares.size === entries.length ? Object.fromEntries(shares) : undefined
}

function isShare(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= 1
}
