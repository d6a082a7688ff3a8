import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CourseOptions, serveOrders, upTo } from './framework-course.js'
import { FrameworkExample } from './framework-example.js'
import type { Ended } from './programs.js'

/** The expected course of a server that takes 20 orders and gets SIGTERM. */
export interface ServerRow extends Pick<CourseOptions, 'stopsListening' | 'afterDelivery' | 'byFile'> {
  /** The script of package.json that starts it. */
  readonly script: string
  readonly end: Pick<Ended, 'code' | 'signal'>
  /** Texts of the lines beside `order placed`, and how often each arrives. */
  readonly others: Readonly<Record<string, number>>
  /** False where it tracks no event for an order. @default true */
  readonly tracks?: boolean
}

/** The server ends by itself, when it has closed. */
export const leaves = { code: 0, signal: null } as const
/** The server dies of the signal. */
export const dies = { code: null, signal: 'SIGTERM' } as const

/** Tests of the server of an example, one for each way to start it. Returns the installed example. */
export function testServer(name: string, rows: readonly ServerRow[]): () => FrameworkExample {
  let example: FrameworkExample
  beforeAll(async () => {
    example = await FrameworkExample.install(name)
  })
  afterAll(() => example.remove())

  describe(`the server of the example ${name}`, () => {
    it.each(rows)('loses no line at SIGTERM, and ends as without Sluice: $script', async (row) => {
      const { end, others, tracks = true, ...options } = row
      const course = await serveOrders(example, options)
      const events = tracks ? upTo(20).map(() => 1001) : []
      expect(course).toEqual({ ended: { ...end, stdout: '', stderr: '' }, orders: upTo(20), others, events })
      const without = await example.withoutSluice(() => serveOrders(example, { ...options, afterDelivery: false }))
      expect(without).toEqual({ ended: course.ended, orders: [], others: {}, events: [] })
    })
  })
  return () => example
}
