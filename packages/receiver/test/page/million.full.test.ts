import { describe, expect, it, vi } from 'vitest'
import { dataFolder } from '../data-folder.js'
import { storeRecords } from '../stored-records.js'
import { canOpenPages, listHas, openPage, rows, rowsAre, useBrowser } from './support.js'

useBrowser()
const data = dataFolder()

describe.skipIf(!canOpenPages)('the page over a million records', () => {
  it('shows the newest, finds single ones by every kind of filter, and counts all', async () => {
    await storeRecords(data.path, 1_000_000)
    const { page, problems, call } = await openPage({ data: data.path })
    // The index of words is made now, for half a minute or more.
    const indexed = vi.waitUntil(async () => (await call('GET', '/api/logs/demo?text=nowhere')).status === 200, {
      timeout: 180_000,
    })
    const open = (query: string) => page.evaluate(`location.hash = ${JSON.stringify(`#logs?${query}`)}`)
    await rows(page).last().filter({ hasText: 'GET /orders/' }).waitFor()
    expect(await rows(page).count()).toBeLessThanOrEqual(300)
    await page.getByText('1,000,000 records').waitFor()
    await page.getByTitle('19,999 records').waitFor()

    await indexed
    await open('level=fatal')
    await listHas(page, 2)
    await open('level=fatal&text=answered&only=appName:mail')
    await listHas(page, 1)
    // The first record of all, by its time.
    await open('since=2024-01-01T00:00:00Z&until=2024-01-01T00:00:01Z')
    await listHas(page, 4)
    await open('text=customer&not=level:info&level=fatal&only=machineName:m7')
    await listHas(page, 1)
    await open('text=nowhere')
    await rowsAre(page, 0)
    expect(problems).toEqual([])
  })
})
