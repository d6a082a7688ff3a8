/** The signs behind a name, and the tests that they mean. */
export const tests = { ':': ':', '=': ':', '!=': ':', '<': '<', '<=': '<=', '>': '>', '>=': '>=' } as const
export type WrittenSign = keyof typeof tests

/** Signs that other languages have behind a name, and what to write instead. */
export const otherSigns: Readonly<Record<string, string>> = {
  '==': 'write ":"',
  '===': 'write ":"',
  ':=': 'write ":"',
  '!==': 'write "!="',
  '<>': 'write "!="',
  '=>': 'write ">="',
  '=<': 'write "<="',
  '~': 'write ":", and a star behind the begin of a value',
  '=~': 'write ":", and a star behind the begin of a value',
  '!~': 'write "!=", and a star behind the begin of a value',
}

/** An address is a text, not the field `http`. */
export const writtenSign = /^(?::(?!\/\/)=?|[=!]==?|[=!]?~|<>|=[<>]|[<>]=?|=)/

/** A sign that the language does not have, its place in a text, and what to write instead. */
export interface Unexpected {
  readonly sign: string
  readonly at: number
  readonly advice: string
}

/** In words and values. */
export function unexpectedIn(text: string): Unexpected | undefined {
  const [{ index: at = 0, 0: sign } = { 0: '' }] = text.matchAll(/\*(?!$)|\|/g)
  if (sign === '') return undefined
  return { sign, at, advice: sign === '|' ? 'write OR' : 'write a star at the end, as in check*' }
}

export function unexpectedInWords(text: string): Unexpected | undefined {
  const [sign] = writtenSign.exec(text) ?? []
  if (sign === text) return { sign, at: 0, advice: 'write a name, a sign and a value without spaces' }
  if (text === '&&') return { sign: text, at: 0, advice: 'write AND' }
  if (/^\{[\w.]+(?:=|!=|=~|!~)/.test(text)) return { sign: '{', at: 0, advice: 'write name:value without braces' }
  if (/^!./su.test(text)) return { sign: '!', at: 0, advice: `write -${text.slice(1)}` }
  const isPattern = /^\/.*[\\^$+].*\/[a-z]*$/s.test(text)
  return isPattern
    ? { sign: '/', at: 0, advice: 'there are no regular expressions: write words, or a begin such as check*' }
    : undefined
}

export function unexpectedInValue(name: string, value: string): Unexpected | undefined {
  const [sign] = /^(?:[<>]=?|=|[[{('])/.exec(value) ?? []
  if (sign === undefined) return undefined
  const rest = value.slice(sign.length)
  const advices: Readonly<Record<string, string>> = {
    '[': `write ${name}>=1 ${name}<=9, or (${name}:a OR ${name}:b)`,
    '{': `write ${name}>1 ${name}<9`,
    '(': `write (${name}:a OR ${name}:b)`,
    "'": 'write "',
    '=': `write ${name}:${rest}`,
  }
  return { sign, at: 0, advice: advices[sign] ?? `write ${name}${sign}${rest}` }
}
