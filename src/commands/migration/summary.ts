import type { Account } from './migration.js'

/** What a migration came to, for a person. */
export function migrationSummary(
  account: Account,
  { stopped, rejects }: { readonly stopped: boolean; readonly rejects: string },
): string {
  const { lines, before, arrived, invalid, refused, unknown } = account
  const have = before + arrived
  const of = stopped ? '' : ` of ${lines}`
  const earlier = before === 0 ? '' : ` (${before} of them in earlier runs)`
  const rejected = invalid + refused + unknown
  const kinds = [
    [invalid, 'not valid'],
    [refused, 'refused by the service'],
    [unknown, 'may have arrived'],
  ] as const
  const words = kinds.flatMap(([count, kind]) => (count === 0 ? [] : `${count} ${kind}`)).join(', ')
  return [
    `${have}${of} lines have arrived${earlier}\n`,
    ...(rejected === 0 ? [] : [`${rejected} have not, see ${rejects}: ${words}\n`]),
    ...(have === lines && !stopped ? [] : ['to go on, give the same command again\n']),
  ].join('')
}

/** What a check came to. */
export function checkSummary(
  { lines, invalid }: { readonly lines: number; readonly invalid: number },
  rejects: string,
): string {
  const where = invalid === 0 ? '' : `${invalid} are not, see ${rejects}\n`
  return `${lines - invalid} of ${lines} lines are valid; nothing was sent\n${where}`
}
