import type { OptionKind } from './option-table.js'

type Value = string | number | boolean

const yes: ReadonlySet<string> = new Set(['true', '1', 'yes', 'on'])
const no: ReadonlySet<string> = new Set(['false', '0', 'no', 'off'])

/** The value that a text stands for; undefined if the option cannot have it. */
export function readValue(kind: OptionKind, text: string): Value | undefined {
  switch (kind.type) {
    case 'integer': {
      const value = Number(text)
      return /^\d+$/.test(text) && value >= kind.min && value <= kind.max ? value : undefined
    }
    case 'rate': {
      const [, perSecond] = /^(\d{1,9})\/s$/.exec(text) ?? []
      return Number(perSecond) > 0 ? Number(perSecond) : undefined
    }
    case 'flag': {
      const word = text.toLowerCase()
      return yes.has(word) || (no.has(word) ? false : undefined)
    }
    case 'page-host':
      return isPageHost(text) ? text : undefined
    case 'database':
      return /^postgres(ql)?:\/\/\S+$/.test(text) ? text : undefined
    case 'duration':
      return durationMs(text) === undefined ? undefined : text
    case 'text':
      return text === '' ? undefined : text
  }
}

/** The values that an option can have, for people. */
export function expectation(kind: OptionKind): string {
  switch (kind.type) {
    case 'integer':
      return `a number from ${kind.min} to ${kind.max}`
    case 'rate':
      return 'records per second, such as 1000/s'
    case 'flag':
      return 'true or false'
    case 'page-host':
      return 'a name such as logs.example.com:8443'
    case 'database':
      return 'one URL such as postgres://user:password@host:5432/database'
    case 'duration':
      return 'minutes, hours or days, at least 1m, such as 7d'
    case 'text':
      return 'a value'
  }
}

const minutesOf = { m: 1, h: 60, d: 24 * 60 }

/** The duration in ms; undefined for another text, and for less than a minute. */
export function durationMs(text: string): number | undefined {
  const [, number, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  const minutes = Number(number) * minutesOf[unit as keyof typeof minutesOf]
  return minutes > 0 ? minutes * 60_000 : undefined
}

export function isPageHost(text: string): boolean {
  return /^([\w.-]+|\[[\da-f:.]+\])(:\d+)?$/i.test(text)
}
