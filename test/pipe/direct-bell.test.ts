import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { TextHead } from '../../src/pipe/frame.js'
import { PipeReader } from '../../src/pipe/pipe-reader.js'
import { PipeWriter } from '../../src/pipe/pipe-writer.js'
import { DirectBell } from '../support/bells.js'
import { NotingSink, pipeOf, texts } from '../support/pipe.js'

const head: TextHead = { kind: 'line', severity: 2, marks: 0, time: 1, style: 0 }

describe('a pipe within one thread, whose bells are calls', () => {
  it('gives all to the reader, as it has room', () => {
    const memory = pipeOf(4096)
    const bells = { bell: new DirectBell(), room: new DirectBell() }
    const writer = new PipeWriter(memory, bells)
    const reader = new PipeReader(memory, bells)
    const sink = new NotingSink()
    let isLooking = false
    bells.bell.heard(() => {
      if (isLooking) return
      isLooking = true
      // A record may lead to another one: a listener logs.
      while (!reader.take(sink, 100)) if (sink.got.length % 7 === 0) writer.value(sink.got.length, 1)
      isLooking = false
    })
    const text = fc.sample(texts(5000), { numRuns: 300, seed: 1 })
    for (const line of text) writer.text(head, line)
    while (!writer.push(0)) expect(writer.waits).toBe(true)
    const lines = sink.got.flatMap((got) => (got.kind === 'text' ? [got.text] : []))
    expect(lines).toEqual(text.map((line) => line.toWellFormed()))
    expect(sink.got.some(({ kind }) => kind === 'value')).toBe(true)
  })

  it('loses nothing where its bell, as a call, leads to records and no room', () => {
    const memory = pipeOf(2048)
    const bells = { bell: new DirectBell(), room: new DirectBell() }
    const writer = new PipeWriter(memory, bells)
    const sent: number[] = []
    const send = (style: number, length: number) => {
      sent.push(style)
      writer.text({ ...head, style }, 'x'.repeat(length))
    }
    let isCalled = false
    bells.bell.heard(() => {
      if (isCalled) return
      isCalled = true
      send(1000 + sent.length, 1)
      isCalled = false
    })
    for (let line = 0; line < 40; line++) send(line, 100 + line * 10)
    isCalled = true
    const sink = new NotingSink()
    do new PipeReader(memory).take(sink, Number.POSITIVE_INFINITY)
    while (!writer.push(0) || memory.get('read') !== memory.get('written'))
    const got = sink.got.flatMap((each) => (each.kind === 'text' ? [each.head.style] : []))
    expect(new Set(got)).toEqual(new Set(sent))
    expect(got).toHaveLength(sent.length)
    const lines = got.filter((style) => style < 1000)
    expect(lines).toEqual(lines.toSorted((a, b) => a - b))
  })
})
