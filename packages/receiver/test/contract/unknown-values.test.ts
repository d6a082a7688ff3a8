import { expect, it } from 'vitest'
import type { RecordFilter } from '../../dist/storage/record-storage.js'
import { newRecord, onEachStore, times } from './stores.js'

onEachStore((store) => {
  async function unknownOf(filter: RecordFilter) {
    const page = await store.other.records.read({ ...filter, limit: 10 })
    return page.unknown
  }

  it('names the value of a filter that no record has, and the most frequent values', async () => {
    const bucket = store.bucket()
    const lane = { kind: 'logs', bucket } as const
    const counts = { shop: 3, jobs: 2, mail: 1 }
    for (const [appName, count] of Object.entries(counts)) {
      await store.append(times(count, () => newRecord('logs', { bucket, appName, env: 'live', eventId: 7 })))
    }
    const cases = [
      [{ appName: 'none' }, { field: 'appName', value: 'none', known: ['shop', 'jobs', 'mail'] }],
      [{ appName: '' }, { field: 'appName', value: '', known: ['shop', 'jobs', 'mail'] }],
      [{ env: 'none' }, { field: 'env', value: 'none', known: ['live'] }],
      [{ machineName: 'none' }, { field: 'machineName', value: 'none', known: [] }],
      [
        { levels: ['warn', 'info'], appName: 'none' },
        { field: 'level', value: 'warn', known: ['info'] },
      ],
      [
        { levels: ['info'], appName: 'none' },
        { field: 'appName', value: 'none', known: ['shop', 'jobs', 'mail'] },
      ],
      [{ eventId: 8 }, { field: 'eventId', value: 8, known: [] }],
      [
        { eventId: 7, appVersion: '1' },
        { field: 'appVersion', value: '1', known: [] },
      ],
      [{ minLevel: 'fatal' }, undefined],
      [{ text: 'none' }, undefined],
      [{ appName: 'shop', since: 2e12 }, undefined],
    ] as const
    for (const [filter, unknown] of cases) {
      expect(await unknownOf({ ...lane, ...filter }), JSON.stringify(filter)).toEqual(unknown)
    }
  })

  it('names an event that no value has', async () => {
    const bucket = store.bucket()
    await store.append([newRecord('values', { bucket, eventId: 1 })])
    expect(await unknownOf({ kind: 'values', bucket, eventId: 2 })).toEqual({ field: 'eventId', value: 2, known: [] })
  })

  it('names no value where the first page is not empty, or the page is not the first', async () => {
    const bucket = store.bucket()
    await store.append([newRecord('logs', { bucket })])
    expect(await unknownOf({ kind: 'logs', bucket, levels: ['info', 'none'] })).toBeUndefined()
    const later = await store.one.records.read({ kind: 'logs', bucket, appName: 'none', limit: 5, before: 1 })
    expect(later).not.toHaveProperty('unknown')
  })

  it('knows a value of any length, and one among too many', async () => {
    const bucket = store.bucket()
    const long = 'x'.repeat(500)
    const lane = { kind: 'logs', bucket } as const
    await store.append(times(1500, (number) => newRecord('logs', { bucket, appName: `app ${number}` })))
    await store.append([newRecord('logs', { bucket, appName: `${long}a` })])
    for (const appName of ['app 1499', `${long}a`]) {
      expect(await unknownOf({ ...lane, appName, text: 'none' }), appName).toBeUndefined()
      expect((await store.other.records.read({ ...lane, appName, limit: 5 })).total).toBe(1)
    }
    for (const appName of ['app 1500', `${long}b`]) {
      expect(await unknownOf({ ...lane, appName }), appName).toEqual({ field: 'appName', value: appName, known: [] })
    }
  })
})
