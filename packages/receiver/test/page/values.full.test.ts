import { describe, expect, it } from 'vitest'
import { canOpenPages, type OpenPage, openPage, rowsAre, useBrowser } from './support.js'

useBrowser()

const minuteMs = 60_000

describe.skipIf(!canOpenPages)('the values of an event', () => {
  it('are listed on a click, newest first, with those that arrive', async () => {
    const { page, call, problems } = await openPage({ timezoneId: 'UTC' })
    await track(call, Date.UTC(2026, 0, 31, 20, 1), { appName: 'shop', env: 'production', appVersion: '1.4.2' })
    await track(call, Date.UTC(2026, 0, 31, 20, 2), { appName: 'mail' })
    await track(call, Date.UTC(2026, 0, 31, 20, 3), { eventId: 1002 })
    await page.getByRole('link', { name: 'Values' }).click()
    await page.getByRole('link', { name: '1001' }).click()
    await page.getByRole('heading', { name: 'Event 1001' }).waitFor()
    const list = page.locator('[data-value]')
    await list.nth(1).waitFor()
    const shown = () =>
      list.evaluateAll((found) => found.map((each) => [...each.children].map((cell) => cell.textContent)))
    expect(await shown()).toEqual([
      ['2026-01-31 20:02:00.000 UTC', 'mail', '', ''],
      ['2026-01-31 20:01:00.000 UTC', 'shop', 'production', '1.4.2'],
    ])
    await track(call, Date.UTC(2026, 0, 31, 20, 4), { appName: 'jobs' })
    await track(call, Date.UTC(2026, 0, 31, 20, 4), { eventId: 1002 })
    await list.nth(2).waitFor()
    expect((await shown()).map(([, app]) => app)).toEqual(['jobs', 'mail', 'shop'])
    // No log has the event.
    expect(await page.getByText('Logs with this event').count()).toBe(0)

    await page.goBack()
    await page.locator('[data-event="1001"]').waitFor()
    expect(problems).toEqual([])
  })

  it('lead to the logs that have the event, too', async () => {
    const { page, call } = await openPage()
    await track(call, Date.now())
    const log = { timeStamp: Date.now(), level: 'info', appName: 'shop' }
    await call('POST', '/logs/demo', { ...log, message: 'paid', eventId: 1001 })
    await call('POST', '/logs/demo', { ...log, message: 'ready' })
    await page.getByRole('link', { name: 'Values' }).click()
    await page.getByRole('link', { name: '1001' }).click()
    await page.getByRole('link', { name: 'Logs with this event: 1' }).click()
    await rowsAre(page, 1)
  })

  it('come page by page', async () => {
    const { page, call } = await openPage()
    for (let number = 0; number < 250; number++) await track(call, Date.now() - number)
    await page.getByRole('link', { name: 'Values' }).click()
    await page.getByRole('link', { name: '1001' }).click()
    const list = page.locator('[data-value]')
    await expect.poll(() => list.count()).toBe(200)
    await page.getByRole('button', { name: 'More' }).click()
    await expect.poll(() => list.count()).toBe(250)
    expect(await page.getByRole('button', { name: 'More' }).count()).toBe(0)
  })
})

describe.skipIf(!canOpenPages)('the time range of values', () => {
  it('is the last hour, one that is chosen, or one that is dragged over', async () => {
    const { page, call } = await openPage()
    const now = Date.now()
    for (const minutes of [0, 30, 300, 360]) await track(call, now - minutes * minuteMs)
    await page.getByRole('link', { name: 'Values' }).click()
    const counted = page.locator('[data-event="1001"] .counted')
    await counted.getByText('2', { exact: true }).waitFor()
    await page.getByRole('heading', { name: 'Per minute' }).waitFor()
    await page.getByLabel('Time range').selectOption('Last 24 hours')
    await counted.getByText('4', { exact: true }).waitFor()
    await page.getByRole('heading', { name: 'Per 20 minutes' }).waitFor()
    await track(call, now)
    await counted.getByText('5', { exact: true }).waitFor()

    const plot = (await page.locator('.card .plot').boundingBox())!
    await page.mouse.move(plot.x + plot.width * 0.5, plot.y + 10)
    await page.mouse.down()
    await page.mouse.move(plot.x + plot.width * 0.9, plot.y + 10, { steps: 5 })
    await page.mouse.up()
    await page.waitForURL(/#values\?since=20.*until=20/)
    await counted.getByText('2', { exact: true }).waitFor()
    await page.getByRole('link', { name: '1001' }).click()
    await expect.poll(() => page.locator('[data-value]').count()).toBe(2)
    // What arrives now is not of this time.
    await track(call, now)
    await page.getByLabel('Time range').selectOption('Last hour')
    await expect.poll(() => page.locator('[data-value]').count()).toBe(6)
  })
})

function track(call: OpenPage['call'], timeStamp: number, fields: object = {}) {
  return call('POST', '/value_tracking/demo', { timeStamp, eventId: 1001, appName: 'shop', ...fields })
}
