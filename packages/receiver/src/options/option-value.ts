/** A kind of option. */
export interface OptionKind<Value> {
  /** The values that an option can have, for people. */
  readonly expected: string
  /** The value that a text stands for; undefined if the option cannot have it. */
  readonly read: (text: string) => Value | undefined
}

const yes: ReadonlySet<string> = new Set(['true', '1', 'yes', 'on'])
const no: ReadonlySet<string> = new Set(['false', '0', 'no', 'off'])

export const flag: OptionKind<boolean> = {
  expected: 'true or false',
  read: (text) => yes.has(text.toLowerCase()) || (no.has(text.toLowerCase()) ? false : undefined),
}
export const anyText = matching(/./s, 'a value')
/** Name under which browsers reach the page, with or without a port. */
export const pageName = matching(/^([\w.-]+|\[[\da-f:.]+\])(:\d+)?$/i, 'a name such as logs.example.com:8443')
export const databaseUrl = matching(
  /^postgres(ql)?:\/\/\S+$/,
  'one URL such as postgres://user:password@host:5432/database',
)
export const duration = matching(/^(?!0+[mhd])\d{1,6}[mhd]$/, 'minutes, hours or days, at least 1m, such as 7d')
export const rate: OptionKind<number> = {
  expected: 'records per second, such as 1000/s',
  read: (text) => (/^\d{1,9}\/s$/.test(text) && Number.parseInt(text, 10)) || undefined,
}

export function integer(min: number, max: number): OptionKind<number> {
  return {
    expected: `a number from ${min} to ${max}`,
    read: (text) => (/^\d+$/.test(text) && Number(text) >= min && Number(text) <= max ? Number(text) : undefined),
  }
}

function matching(pattern: RegExp, expected: string): OptionKind<string> {
  return { expected, read: (text) => (pattern.test(text) ? text : undefined) }
}
