import { describe, expect, it } from 'vitest'
import { countedName, termsOf, termsOfPhrase, termsOfValue } from '../../dist/storage/postgres/record-terms.js'
import { phrasesIn } from '../../dist/storage/records/words.js'

const lane = { kind: 'logs', bucket: 'demo' } as const
const record = (message: string) => ({ timeStamp: 1, appName: 'my shop', level: 'info', message })
const phrasesOf = (text: string) => phrasesIn(text).map((phrase) => termsOfPhrase(lane, phrase))
const termsIn = (message: string) => termsOf(lane, record(message)).trim().split(' ')

describe('the terms of a record', () => {
  it('have its words in their order, without case and accents', () => {
    const words = phrasesOf('wörld café 42').flat()
    expect(termsIn('Hello, WORLD! Cafe\u0301: 42.').slice(-3)).toEqual(words)
  })

  it('find a run of several words as it is', () => {
    expect(phrasesOf('foo-bar baz')).toEqual([
      [expect.stringMatching(/foo$/), expect.stringMatching(/bar$/)],
      [expect.stringMatching(/baz$/)],
    ])
    expect(phrasesOf(' -- ')).toEqual([])
  })

  it('have a label for each field, whose value has no space', () => {
    const [label] = termsOfValue(lane, { field: 'appName', values: ['"my shop"'] })
    expect(label).not.toContain(' ')
    expect(termsIn('x')).toContain(label)
  })

  it('of two buckets differ', () => {
    const [one, other] = ['demo', 'other'].map((bucket) => termsOf({ kind: 'logs', bucket }, record('x')))
    expect(one).not.toBe(other)
  })

  it('are short, also for long words, and differ where those differ', () => {
    const long = 'w'.repeat(100_000)
    const [one, other] = [`${long}a`, `${long}b`].map((word) => termsIn(word).at(-1)!)
    expect(one!.length).toBeLessThan(300)
    expect(one).not.toBe(other)
    expect(phrasesOf(`${long}A`).flat()).toEqual([one])
  })

  it('need no surrogate pair to be whole', () => {
    const emoji = '\u{10000}'.repeat(200)
    expect(termsOf(lane, record(`${emoji} \ud800`)).isWellFormed()).toBe(true)
    expect(countedName(JSON.stringify(`x${emoji}`)).isWellFormed()).toBe(true)
  })
})

describe('a counted name', () => {
  it('is JSON of limited length, and differs where the values differ', () => {
    expect(countedName('"info"')).toBe('"info"')
    const [one, other] = ['a', 'b'].map((last) => countedName(JSON.stringify('l'.repeat(5000) + last)))
    expect(one!.length).toBeLessThan(300)
    expect(one).not.toBe(other)
    expect(JSON.parse(one!)).toMatch(/^l+…/)
  })
})
