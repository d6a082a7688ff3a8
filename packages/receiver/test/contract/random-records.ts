import type { NewRecord, RecordFilter, RecordKind } from '../../dist/storage/record-storage.js'

type Random = () => number

const startMs = Date.parse('2024-03-31T23:00:00Z')
/** Ordinary texts, and such that a database could cut, refuse or confuse. */
const levels = ['info', 'info', 'warn', 'error', 'Warn', 'FATAL', 'wArn', '', 'a\0', 'a', '\ud800', '__proto__']
const names = [
  'shop',
  'Shop',
  'shop ',
  '',
  'a\0b',
  'a',
  '\u{1f600}',
  '\udc00',
  "'; --",
  '%',
  '_',
  'constructor',
  'é',
  'e\u0301',
]
const eventIds = [0, 1, -1, 1.5, 1e21, 0.1 + 0.2, 2 ** 53 - 1, 5e-324, Number.MAX_VALUE]
const words = [
  ...['order', 'Order', 'orders', 'caffè', 'CAFFE', 'caffe\u0300', 'naïve', 'Ωmega', 'ωMEGA', 'Straße', 'strasse'],
  ...[
    '日本',
    '語',
    '42',
    '0042',
    'e2e',
    'x',
    'Привет',
    'привет',
    '\u{1f600}',
    '%',
    '\\',
    '"',
    "'",
    'NOT',
    'OR',
    'AND',
    '*',
  ],
]
const separators = [' ', ' ', ' ', '-', '.', ', ', '_', '\n', '/', ':', '\0', '\ud800', '()', '']
const minLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const

/** A record of random fields. Its `runtimeVersion` tells it from all others. */
export function randomRecord(
  random: Random,
  { kind, bucket, number }: { kind: RecordKind; bucket: string; number: number },
) {
  const maybe = <Value>(name: string, values: readonly Value[]) =>
    random() < 0.5 ? { [name]: oneOf(random, values) } : {}
  const record = {
    timeStamp: randomTime(random),
    appName: oneOf(random, names),
    runtimeVersion: `${number}`,
    ...maybe('env', names),
    ...maybe('appVersion', ['1.0', '1', '1.00', ...names]),
    ...(kind === 'values'
      ? { eventId: oneOf(random, eventIds) }
      : {
          level: oneOf(random, levels),
          message: sentence(random, 6),
          ...maybe('eventId', eventIds),
          ...maybe('machineName', names),
        }),
  }
  return { kind, bucket, idempotencyKey: undefined, record } satisfies NewRecord
}

type Conditions = Omit<RecordFilter, 'kind' | 'bucket' | 'query' | 'levelRanges'>

/** Each condition of a filter, with a random value that some records have and some do not. */
const conditions: Record<keyof Conditions, (random: Random) => Conditions> = {
  levels: (random) => ({ levels: severalOf(random, [...levels, 'none']) }),
  minLevel: (random) => ({ minLevel: oneOf(random, minLevels) }),
  notLevels: (random) => ({ notLevels: severalOf(random, [...levels, 'none']) }),
  eventId: (random) => ({ eventId: oneOf(random, [...eventIds, 77]) }),
  appName: (random) => ({ appName: oneOf(random, [...names, 'none']) }),
  env: (random) => ({ env: oneOf(random, [...names, 'none']) }),
  machineName: (random) => ({ machineName: oneOf(random, [...names, 'none']) }),
  appVersion: (random) => ({ appVersion: oneOf(random, ['1.0', '1', ...names, 'none']) }),
  text: (random) => ({ text: sentence(random, 2) }),
  notText: (random) => ({ notText: sentence(random, 2) }),
  since: (random) => ({ since: boundary(random) }),
  until: (random) => ({ until: boundary(random) }),
}

/** Conditions that a kind of record can have. */
export function conditionsOf(kind: RecordKind): (keyof Conditions)[] {
  const all = Object.keys(conditions) as (keyof Conditions)[]
  return kind === 'logs' ? all : ['eventId', 'appName', 'env', 'appVersion', 'since', 'until']
}

export function randomFilter(random: Random, names: readonly (keyof Conditions)[]): Conditions {
  return Object.assign({}, ...names.map((name) => conditions[name](random)))
}

/** Some of the values, in any order. */
export function someOf<Value>(random: Random, values: readonly Value[], share: number): Value[] {
  return values.filter(() => random() < share)
}

function severalOf<Value>(random: Random, values: readonly Value[]): Value[] {
  return [oneOf(random, values), ...someOf(random, values, 0.2)]
}

function oneOf<Value>(random: Random, values: readonly Value[]): Value {
  return values[Math.floor(random() * values.length)]!
}

function sentence(random: Random, most: number): string {
  let text = ''
  for (let left = 1 + random() * most; left > 1; left--) text += oneOf(random, words) + oneOf(random, separators)
  return text
}

/** Mostly in three hours, in ms or s; sometimes long ago, far ahead, or between two milliseconds. */
function randomTime(random: Random): number {
  const usual = startMs + Math.floor(random() * 3 * 3_600_000)
  const kind = random()
  if (kind < 0.7) return usual
  if (kind < 0.85) return Math.floor(usual / 1000)
  if (kind < 0.9) return usual + 0.5
  if (kind < 0.93) return usual * 1000
  if (kind < 0.95) return -usual
  return oneOf(random, [0, -1, 1e16, -1e16, usual * 1e6, 253_402_300_799_999, Math.floor(startMs / 60_000) * 60_000])
}

/** Begin or end of a range of time: within the years that are counted, not at their ends. */
function boundary(random: Random): number {
  const time = Math.floor(randomTime(random))
  return Math.abs(time) > 1e14 ? startMs : time
}
