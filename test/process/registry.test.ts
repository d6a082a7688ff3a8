import { afterEach, expect, it, vi } from 'vitest'
import { emptyLedger } from '../../src/delivery/ledger.js'
import type { ProcessRegistry } from '../../src/process/registry.js'

const key = Symbol.for('sluice.registry')
const host = globalThis as { [key]?: ProcessRegistry | undefined }

afterEach(() => {
  delete host[key]
  vi.resetModules()
})

/** The registry of a copy of version 1, with the engines that it holds. */
function olderRegistry(engines: Set<object>): ProcessRegistry {
  return {
    version: 1,
    capture: { notice() {}, begin() {}, end() {} },
    add: (engine) => void engines.add(engine),
    retire: (engine) => void engines.delete(engine),
    stats: () => emptyLedger,
    drain: async () => emptyLedger,
    timeToClose: () => 0,
    watchEnd() {},
  }
}

it('the registry of another copy, which may be of another version, is asked for nothing but its interface', async () => {
  const asked = new Set<string | symbol>()
  const engines = new Set<object>()
  const members = olderRegistry(engines)
  host[key] = new Proxy(members, {
    get(target, name, receiver) {
      asked.add(name)
      return Reflect.get(target, name, receiver)
    },
  })
  vi.resetModules()
  const { createSluice, flush, close, rejections, setLevel, stats } = await import('../../src/index.js')
  const sluice = createSluice({ url: 'http://127.0.0.1:1', apiKey: 'k', bucket: 'b', mode: 'inline' })
  sluice.track(1001)
  expect(engines.size).toBe(1)
  await sluice.close({ timeoutMs: 0 })
  expect(engines.size).toBe(0)
  await flush()
  await close()
  stats()
  // Members that came later are done without.
  expect([...asked].filter((name) => !Object.hasOwn(members, name))).toEqual(['accepts'])
  expect(asked.size).toBeGreaterThan(4)
  expect(rejections()).toEqual([])
  expect(() => setLevel(undefined)).not.toThrow()
})

it('the registry of an older copy knows no capacity: the metrics leave it out', async () => {
  host[key] = olderRegistry(new Set())
  vi.resetModules()
  const { prometheusText, health } = await import('../../src/metrics.js')
  expect(prometheusText()).toContain('sluice_invalid_events_total 0\n')
  expect(prometheusText()).not.toContain('capacity')
  expect(health()).toMatchObject({ status: 'ok', lanes: [], reason: undefined, capacity: undefined })
})
