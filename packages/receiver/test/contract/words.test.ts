import { expect, it } from 'vitest'
import { matches } from './oracle.js'
import { readAll } from './reading.js'
import { newRecord, onEachStore } from './stores.js'

/** Each is a message and a query. */
const texts = [
  ...[
    'order',
    'ORDER',
    'orders',
    'or',
    'an order',
    'order of 42',
    'order-42',
    '42-order',
    'order 42',
    'order.42.',
    '-',
    '',
  ],
  ...[
    'a_b',
    'a b',
    'ab',
    'a.b.c',
    'a.c',
    "don't",
    'don t',
    'AND',
    'NOT a',
    '"a b"',
    'a*',
    '%',
    'a%',
    '\\',
    '(a)',
    'a:b',
  ],
  ...[
    'caffè',
    'CAFFE\u0300',
    'caffe',
    'Việt',
    'Vie\u0323\u0302t',
    'VIET',
    'ḗ',
    'e',
    'Å',
    '\u212b',
    'å',
    'a',
    'ø',
    'o',
    'ñ',
    'n',
  ],
  ...['Straße', 'strasse', 'STRASSE', 'ΛΟΓΟΣ', 'λόγος', 'λογοσ', 'Привет', 'привет', 'ёж', 'еж', 'й', 'и'],
  ...[
    '日本語',
    '日本',
    '日 本',
    'हिन्दी',
    'हन',
    'ไทย',
    'x²',
    'x2',
    '０',
    '0',
    '½',
    'Ⅷ',
    'ⅷ',
    'ﬁ',
    'fi',
    '\u{1d7d8}',
    '\u{10400}',
    '\u{10428}',
  ],
  ...[
    '\u{1f600}',
    'a\u{1f600}b',
    'a\0b',
    'a\ud800b',
    'x\u200dy',
    'xy',
    'x\u00ady',
    'a\u0301',
    '\u0301',
    '\u0301a',
    'a\n\tb',
    'a\u00a0b',
    'a\ue000b',
    '\ue000',
  ],
]

/** Each is a message, and what a person reads there. */
const shown = [
  ['{"sql":"SELECT *\\nFROM"}', 'sql SELECT FROM'],
  ['run {"a":["x\\ty","\\u00e9"]} {"b":"c\\rd"}', 'run a x y é b c d'],
  [JSON.stringify({ body: JSON.stringify({ note: 'one\ntwo' }) }), 'body note one two'],
  ['\u001b[32mStarting\u001b[39m shop', 'Starting shop'],
  ['{"a":"\\u001b[1;31mred\\u001b[0m"}', 'a red'],
  ['open "C:\\new\\table"', 'open C new table'],
] as const

onEachStore((store) => {
  it('finds words whatever their case and accents, and words with punctuation inside as phrases', async () => {
    const bucket = store.bucket()
    await store.append(texts.map((message) => newRecord('logs', { bucket, message })))
    const all = await readAll(store.one.records, { kind: 'logs', bucket })
    for (const text of texts) {
      for (const filter of [{ text }, { notText: text }]) {
        const query = { kind: 'logs', bucket, ...filter } as const
        const wanted = all.filter((record) => matches(record, query)).map(({ message }) => message)
        const found = (await readAll(store.other.records, query)).map(({ message }) => message)
        expect(found, JSON.stringify(filter)).toEqual(wanted)
      }
    }
  })

  it('finds the words that a person reads, without escapes of JSON and codes of a terminal', async () => {
    const bucket = store.bucket()
    await store.append(shown.map(([message], at) => newRecord('logs', { bucket, message, runtimeVersion: `${at}` })))
    const all = await readAll(store.one.records, { kind: 'logs', bucket })
    const words = [
      'from',
      'nfrom',
      'y',
      'ty',
      'é',
      'u00e9',
      'two',
      'ntwo',
      'starting',
      '32mstarting',
      'red',
      'new table',
      'ew',
    ]
    for (const text of words) {
      const query = { kind: 'logs', bucket, text } as const
      const wanted = all
        .filter((record) => matches({ ...record, message: shown[Number(record.runtimeVersion)]![1] }, query))
        .map(({ id }) => id)
      expect(
        (await readAll(store.other.records, query)).map(({ id }) => id),
        text,
      ).toEqual(wanted)
    }
  })
})
