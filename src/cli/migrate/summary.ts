import type { Summary } from '../ending.js'
import type { Account } from './migration.js'

/** What a migration came to. */
export function migrationSummary(
  account: Account,
  { stopped, rejects }: { readonly stopped: string | undefined; readonly rejects: string },
): Summary {
  const { lines, before, arrived, invalid, refused, unknown } = account
  const have = before + arrived
  const ok = have === lines && stopped === undefined
  const of = stopped === undefined ? ` of ${lines}` : ''
  const earlier = before === 0 ? '' : ` (${before} of them in earlier runs)`
  const rejected = invalid + refused + unknown
  // Nothing else is left: without a change the command would come to the same.
  const toMend = stopped === undefined && unknown === 0
  const kinds = [
    [invalid, 'not valid'],
    [refused, 'refused by the service'],
    [unknown, 'may have arrived'],
  ] as const
  const words = kinds.flatMap(([count, kind]) => (count === 0 ? [] : `${count} ${kind}`)).join(', ')
  return {
    ok,
    facts: { ...account, rejects: rejected === 0 ? null : rejects, stopped: stopped ?? null },
    lines: [
      `${have}${of} lines have arrived${earlier}`,
      ...(rejected === 0 ? [] : [`${rejected} have not, see ${rejects}: ${words}`]),
      ...(ok ? [] : [`to go on, ${toMend ? 'mend them in FILE and ' : ''}give the same command again`]),
    ],
  }
}

/** What a check came to. */
export function checkSummary(
  { lines, invalid }: { readonly lines: number; readonly invalid: number },
  rejects: string,
): Summary {
  return {
    ok: invalid === 0,
    facts: { lines, invalid, rejects: invalid === 0 ? null : rejects },
    lines: [
      `${lines - invalid} of ${lines} lines are valid; nothing was sent`,
      ...(invalid === 0 ? [] : [`${invalid} are not, see ${rejects}`]),
    ],
  }
}
