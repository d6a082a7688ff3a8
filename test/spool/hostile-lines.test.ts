import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { nodeFiles } from '../../src/runtime/files.js'
import { acknowledgementsOf } from '../../src/spool/acknowledgements.js'
import { RecordFile } from '../../src/spool/record-file.js'
import { withChecksum } from '../../src/spool/spool-line.js'
import { answers } from '../support/scripted-sender.js'
import { passUntil, segmentsIn, setUpSpool, spoolFolder } from '../support/spool.js'

const head = { n: '1', key: '"k"', time: '1', kind: '"logs"', bucket: '"b"', severity: '2' }
const refusal = '{"status":400,"reason":"r","validationErrors":[],"rejectedAt":1}'

/** A line with a right checksum and any members. */
function line(changes: Partial<typeof head> & { refusal?: string; body?: string; end?: string }): string {
  const { n, key, time, kind, bucket, severity } = { ...head, ...changes }
  const refused = changes.refusal === undefined ? '' : `,"refusal":${changes.refusal}`
  const body = changes.body ?? '{"message":"foreign"}'
  return withChecksum(
    `"n":${n},"key":${key},"time":${time},"kind":${kind},"bucket":${bucket},"severity":${severity}${refused},"record":${body}${changes.end ?? '}'}`,
  )
}

const hostile: Readonly<Record<string, string>> = {
  'a negative number': line({ n: '-1' }),
  'a number with a fraction': line({ n: '1.5' }),
  'a number that is too large for a file': line({ n: '4000000000' }),
  'a number beyond all integers': line({ n: '1e300' }),
  'a number that is a text': line({ n: '"1"' }),
  'no number': line({ n: 'null' }),
  'a number that a line before it has': line({ n: '0' }),
  'a key with a line end': line({ key: '"k\\r\\nx-api-key: other"' }),
  'a key with a second request': line({ key: '"k\\r\\n\\r\\nPOST /logs/b HTTP/1.1\\r\\n"' }),
  'a key with a space': line({ key: '"a b"' }),
  'a key that is not ASCII': line({ key: '"ü"' }),
  'an empty key': line({ key: '""' }),
  'a key that is too long': line({ key: JSON.stringify('k'.repeat(256)) }),
  'a key that is a number': line({ key: '7' }),
  'an unknown severity': line({ severity: '7' }),
  'a negative severity': line({ severity: '-1' }),
  'a severity between two': line({ severity: '2.5' }),
  'the severity of the other kind': line({ severity: '6' }),
  'an unknown kind': line({ kind: '"metrics"' }),
  'the name of a member of every object as its kind': line({ kind: '"constructor"' }),
  'a bucket that is a path to the folder above': line({ bucket: '".."' }),
  'no bucket': line({ bucket: '""' }),
  'a bucket that is an object': line({ bucket: '{}' }),
  'a time before 1970': line({ time: '-1' }),
  'a time that is no number': line({ time: '"now"' }),
  'a body that is no JSON': line({ body: 'GET / HTTP/1.1' }),
  'a body that is cut': line({ body: '{"message":"f' }),
  'a body that is a text': line({ body: '"text"' }),
  'a body that is a list': line({ body: '[]' }),
  'no end': line({ end: ']' }),
  'a refusal that is none': line({ refusal: 'true' }),
  'a refusal without reasons': line({ refusal: refusal.replace('[]', '7') }),
  'a refusal with a status of text': line({ refusal: refusal.replace('400', '"400"') }),
}

/** Read a file as one that a dead engine has left. */
function recover(path: string) {
  return new RecordFile(path, { from: 0, files: nodeFiles }).recover(() => true)
}

describe('a line with a right checksum and content that no spool writes', () => {
  it.each(Object.keys(hostile))('counts as damaged: %s', (name) => {
    const path = join(spoolFolder(), 'file.ndjson')
    const lines = [line({ n: '0', key: '"first"' }), hostile[name]!, line({ n: '2', refusal }), line({ n: '3' })]
    writeFileSync(path, `${lines.join('\n')}\n`)
    const { lines: found, damaged } = recover(path)
    expect(damaged).toBe(1)
    expect(found.map(({ line }) => [line.number, line.idempotencyKey])).toEqual([
      [0, 'first'],
      [2, 'k'],
      [3, 'k'],
    ])
  })

  it('is not sent, and the lines around it are', async () => {
    const dir = spoolFolder()
    const first = setUpSpool(dir)
    first.sender.answer = () => answers.refused
    first.log('{"message":"own 0"}')
    await first.end()
    const path = segmentsIn(dir)[0]!
    const others = [line({ bucket: '"another"' }), line({ severity: '3' }), line({ kind: '"values"', severity: '6' })]
    appendFileSync(path, `${[...Object.values(hostile), ...others].join('\n')}\n`)
    appendFileSync(path, `${line({ n: '9', body: '{"message":"own 9"}' })}\n`)
    const next = setUpSpool(dir)
    await passUntil(next.clock, 30_000, () => next.delivery.stats().delivered === 2)
    await next.clock.advance(1000)
    expect(next.sender.sent).toEqual(['{"message":"own 0"}', '{"message":"own 9"}'])
    expect(next.said).toEqual([expect.stringMatching(/^lost \d+ damaged lines? of info-.* in the spool$/)])
    expect(segmentsIn(dir)).toEqual([])
  })
})

describe('acknowledgements that Sluice has not written', () => {
  function countLeft(text: string): number {
    const path = join(spoolFolder(), 'file.ndjson')
    writeFileSync(path, Array.from({ length: 20_000 }, (_, n) => `${line({ n: String(n) })}\n`).join(''))
    writeFileSync(acknowledgementsOf(path), `${withChecksum(`"settled":"${text}"}`)}\n`)
    return recover(path).lines.length
  }

  it('settle no record that they do not name', () => {
    expect(countLeft('-,--,,-5,1-2-3,9999999999999999')).toBe(20_000)
    expect(countLeft('5-3,10-20,15-30,99999-999999999999999')).toBe(20_000 - 21)
  })

  it('are processed once, however often they name a record', () => {
    const all = Array.from({ length: 50_000 }, () => '1-19999').join(',')
    const start = performance.now()
    expect(countLeft(all)).toBe(1)
    expect(performance.now() - start).toBeLessThan(5000)
  })
})
