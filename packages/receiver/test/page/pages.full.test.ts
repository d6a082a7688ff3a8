import { writeFile } from 'node:fs/promises'
import { createSluice } from 'sluice'
import { describe, expect, it } from 'vitest'
import { full } from '../../../../test/support/full.js'
import { dataFolder } from '../data-folder.js'
import { article } from '../support.js'
import { canOpenPages, openPage, row, useBrowser } from './support.js'

useBrowser()
const folder = dataFolder()

describe.skipIf(!canOpenPages)('the page', () => {
  it('of an empty bucket shows programs with the real address and key, and stores a test record on request', async () => {
    const { page, url, apiKey } = await openPage()
    const code = page.getByRole('tabpanel')
    await code.getByText('sluice/pino').waitFor()
    for (const text of [url, apiKey, 'SLUICE_BUCKET=demo']) expect(await code.textContent()).toContain(text)
    for (const [name, text] of [
      ['winston', 'sluice/winston'],
      ['track', 'track(1001)'],
      ['curl', `curl ${url}/logs/demo`],
    ] as const) {
      await page.getByRole('tab', { name }).click()
      expect(await code.textContent()).toContain(text)
    }
    await page.getByRole('button', { name: 'Send a test record' }).click()
    await page.getByRole('table', { name: 'Logs' }).locator('[data-id]').waitFor()
  })

  it('of rejected requests shows their reason and body, newest first', async () => {
    const { page, call } = await openPage()
    await call('POST', '/logs/demo', { timeStamp: 1, message: 'no level', appName: 'shop' })
    await call('POST', '/logs/elsewhere', { timeStamp: 1 })
    await page.getByRole('link', { name: 'Rejected' }).click()
    const items = page.locator('[data-status]')
    await items.nth(1).waitFor()
    expect(await items.nth(0).textContent()).toContain('there is no bucket elsewhere')
    expect(await items.nth(1).textContent()).toContain('level is required')
    await items.nth(1).getByText('Body').click()
    expect(await items.nth(1).locator('pre').textContent()).toContain('"message": "no level"')
  })

  it.runIf(full)('of values counts each event, those before it was opened and those that arrive', async () => {
    const { page, url, apiKey } = await openPage()
    const sluice = createSluice({ url, apiKey, bucket: 'demo', appName: 'shop' })
    for (let count = 0; count < 3; count++) sluice.track(1001)
    sluice.track(1002)
    await sluice.flush()
    await page.getByRole('link', { name: 'Values' }).click()
    const total = (event: number) => page.locator(`[data-event="${event}"] td.number`)
    await total(1001).filter({ hasText: /^3$/ }).waitFor()
    await total(1002).filter({ hasText: /^1$/ }).waitFor()
    sluice.track(1002)
    await sluice.close()
    await total(1002).filter({ hasText: /^2$/ }).waitFor()
  })

  it.runIf(full)('of values lists events of long ago, with their totals and when they were last seen', async () => {
    const { page, call } = await openPage({ timezoneId: 'UTC' })
    const now = Date.now()
    const track = (eventId: number, timeStamp: number) =>
      call('POST', '/value_tracking/demo', { timeStamp, eventId, appName: 'shop' })
    for (const timeStamp of [Date.UTC(2020, 0, 31, 12), Date.UTC(2020, 0, 31, 11)]) await track(7, timeStamp)
    for (const timeStamp of [now - 30 * 60_000, now - 7_200_000, now]) await track(8, timeStamp)
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await page.getByRole('link', { name: 'Values' }).click()
    const cells = (event: number) => page.locator(`[data-event="${event}"] td`)
    await cells(7).nth(1).filter({ hasText: /^2$/ }).waitFor()
    expect(await cells(7).nth(2).textContent()).toBe('2020-01-31 12:00:00.000 UTC')
    expect(await cells(7).first().locator('path').getAttribute('d')).not.toMatch(/v-[1-9]/)
    await cells(8).nth(1).filter({ hasText: /^3$/ }).waitFor()
    expect((await cells(8).first().locator('path').getAttribute('d'))!.match(/v-[1-9]/g)).toHaveLength(2)
    // It reads no single value.
    const readings = asked.filter((path) => path.startsWith('/api/values'))
    expect(new Set(readings)).toEqual(new Set(['/api/values/demo/counts']))
    await track(7, now)
    await cells(7).nth(1).filter({ hasText: /^3$/ }).waitFor()
    await cells(7).nth(2).filter({ hasText: 's ago' }).waitFor()
    await page.route('**/counts?*', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...(await response.json()), others: 1234 } })
    })
    // A record that arrives makes the page count again.
    await track(9, now)
    await page.getByText('1,234 values of further events').waitFor()
  })

  it.runIf(full)('of values shows the names of events that are in the catalogue', async () => {
    const events = folder.file('events.json')
    await writeFile(
      events,
      JSON.stringify({ 'order-placed': { number: 1001, description: 'A customer has ordered.' } }),
    )
    const { page, url, apiKey } = await openPage({ events })
    const sluice = createSluice({ url, apiKey, bucket: 'demo', appName: 'shop' })
    sluice.track(1001)
    sluice.track(1002)
    await sluice.close()
    await page.getByRole('link', { name: 'Values' }).click()
    const name = (event: number) => page.locator(`[data-event="${event}"] th`)
    await name(1002).waitFor()
    expect((await name(1001).textContent())!.trim()).toBe('1001 order-placed')
    expect((await name(1002).textContent())!.trim()).toBe('1002')
  })

  it.runIf(full)('of arrivals counts the records of each application', async () => {
    const { page, logger } = await openPage()
    logger('shop').info('one')
    logger('billing').info('two')
    await row(page, 'one').waitFor()
    await row(page, 'two').waitFor()
    await page.getByRole('link', { name: 'Account' }).click()
    await page.getByRole('row', { name: 'shop 1' }).waitFor()
    await page.getByRole('row', { name: 'billing 1' }).waitFor()
  })

  it.runIf(full)('of arrivals lists the gaps that a library has reported, before it was opened and since', async () => {
    const { page, call, url, apiKey } = await openPage({ timezoneId: 'UTC' })
    const report = (message: string, appName: string) =>
      call('POST', '/logs/demo', { timeStamp: Date.now(), level: 'warn', message, appName })
    await report(
      'sluice: 312 log records lost from 2026-01-31T20:00:00.000Z to 2026-01-31T20:05:00.000Z (queue-full 300, too-old 12)',
      'shop',
    )
    await report('sluice: all records lost from here to there (no report)', 'shop')
    await page.getByRole('link', { name: 'Account' }).click()
    const cells = () => page.locator('[data-gap]').first().locator('th, td').allTextContents()
    await page.locator('[data-gap]').waitFor()
    expect(await cells()).toEqual([
      'shop',
      '312 logs',
      'queue-full 300, too-old 12',
      '2026-01-31 20:00:00.000 UTC',
      '2026-01-31 20:05:00.000 UTC',
    ])
    const sluice = createSluice({ url, apiKey, bucket: 'demo', appName: 'billing', maxQueueRecords: 50 })
    for (let event = 0; event < 1000; event++) sluice.track(event)
    // The library reports the gap once it delivers again.
    for (let time = 0; time < 2; time++) await sluice.flush()
    await sluice.close()
    await page.locator('[data-gap]').nth(1).waitFor()
    expect((await cells()).slice(0, 3)).toEqual(['billing', '950 values', 'queue-full 950'])
  })

  it('is nowhere wider than a narrow window', async () => {
    const { page, logger, call } = await openPage({ viewport: { width: 360, height: 700 } })
    const name = 'an-application-of-a-rather-long-name-without-any-space'
    logger(name).info({ orderId: 7 }, 'order placed')
    await row(page, 'order placed').waitFor()
    await call('POST', '/logs/demo', {
      timeStamp: 1,
      level: 'error',
      message: 'x'.repeat(300),
      appName: name,
      appVersion: name,
    })
    const report =
      'sluice: 312 log records lost from 2026-01-31T20:00:00.000Z to 2026-01-31T20:05:00.000Z (queue-full 300, too-old 12)'
    await call('POST', '/logs/demo', { timeStamp: Date.now(), level: 'warn', message: report, appName: name })
    await call('POST', '/value_tracking/demo', {
      timeStamp: Date.now(),
      eventId: 1001,
      appName: name,
      env: 'production',
    })
    await call('POST', '/logs/elsewhere', { timeStamp: 1, appName: name })
    await call('POST', '/api/projects/demo/content-types', article)
    await call('POST', '/ng-cms/content/demo/article', { fields: { title: 'Sale', body: '<p>all</p>' } })
    for (const [view, shown] of [
      ['logs', '[data-id]'],
      ['errors', '[data-error]'],
      ['values', '[data-event]'],
      ['values?event=1001', '[data-value]'],
      ['account', '[data-gap]'],
      ['rejected', '[data-status]'],
      ['content', '.entries summary'],
    ] as const) {
      await page.goto(new URL(`#${view}`, page.url()).href)
      await page.locator(shown).first().waitFor()
      expect(await page.evaluate('document.querySelector("main").scrollWidth - innerWidth'), view).toBeLessThanOrEqual(
        0,
      )
    }
  })

  it.runIf(full)('of arrivals counts the records that came again', async () => {
    const { page, call } = await openPage()
    const record = { timeStamp: Date.now(), level: 'info', message: 'once', appName: 'shop' }
    for (let attempt = 0; attempt < 3; attempt++) await call('POST', '/logs/demo', record, { 'idempotency-key': 'k-1' })
    await page.getByRole('link', { name: 'Account' }).click()
    await page.getByText('2 logs and 0 values came again').waitFor()
  })

  it('of content shows types with their fields and entries, and archives a type', async () => {
    const { page, call } = await openPage()
    await call('POST', '/api/projects/demo/content-types', article)
    await call('POST', '/ng-cms/content/demo/article', { fields: { title: 'Sale', body: '<p>all</p>' } })
    await page.getByRole('link', { name: 'Content' }).click()
    await page.getByText('required, at most 10 characters').waitFor()
    const entry = page.getByRole('region', { name: 'Entries' }).getByText('Sale').first()
    await entry.click()
    await page.getByText('<p>all</p>').waitFor()
    page.on('dialog', (dialog) => dialog.accept())
    await page.getByRole('button', { name: 'Archive' }).click()
    await page.getByText('This project has no content types.').waitFor()
    expect((await call('GET', '/ng-cms/content-types/demo')).body.total).toBe(0)
  })

  it('of content reaches the oldest of many entries, also while new ones come', async () => {
    const { page, call } = await openPage()
    await call('POST', '/api/projects/demo/content-types', article)
    const add = (number: number) => call('POST', '/ng-cms/content/demo/article', { fields: { title: `no ${number}` } })
    const count = 1600
    for (let number = 1; number <= count; number += 50)
      await Promise.all(Array.from({ length: 50 }, (_, index) => add(number + index)))
    await page.getByRole('link', { name: 'Content' }).click()
    const entries = page.getByRole('region', { name: 'Entries' }).getByRole('listitem')
    await entries.first().waitFor()
    await add(count + 1)
    const more = page.getByRole('button', { name: 'More' })
    while ((await more.count()) > 0) {
      const before = await entries.count()
      await more.click()
      await expect.poll(() => entries.count()).toBeGreaterThan(before)
    }
    expect(await entries.count()).toBe(count)
    // The first fifty came in any order.
    await entries
      .last()
      .locator('.title')
      .getByText(/^no ([1-9]|[1-4]\d|50)$/)
      .waitFor()
  })
})
