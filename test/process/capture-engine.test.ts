import { afterEach, expect, it } from 'vitest'
import { resolve } from '../../src/options/resolve.js'
import { type Capture, setCapture } from '../../src/process/capture.js'
import { captureEngine } from '../../src/process/capture-engine.js'

afterEach(() => setCapture(undefined))

const { options } = resolve({}, { environment: {}, needs: 'values', folder: import.meta.dirname })

/** A capture, and the numbers of the events that it has got. */
function noting(): { readonly capture: Capture; readonly events: unknown[] } {
  const events: unknown[] = []
  return { events, capture: { record: (_, record) => events.push((record as { eventId: number }).eventId) } }
}

it('gives each record to the capture that holds now, also where another copy of the package has begun it', () => {
  const [first, second] = [noting(), noting()]
  setCapture(first.capture)
  captureEngine(options)?.value(1, 0)
  // As the other copy does it: this one does not count the change.
  const shared = globalThis as unknown as Record<symbol, { capture: Capture }>
  shared[Symbol.for('sluice.capture.v1')]!.capture = second.capture
  captureEngine(options)?.value(2, 0)
  expect([first.events, second.events]).toEqual([[1], [2]])
  expect(captureEngine(options)?.stats()).toMatchObject({ accepted: 1, delivered: 1 })
})

it('captures what is logged while a record is captured', () => {
  const { capture, events } = noting()
  setCapture({
    record(kind, record) {
      capture.record(kind, record)
      if (events.length === 1) captureEngine(options)?.value(2, 0)
    },
  })
  captureEngine(options)?.value(1, 0)
  expect(events).toEqual([1, 2])
})
