import { describe, expect, it } from 'vitest'
import { canOpenPages, hostile, type OpenPage, openPage, rowsAre, shown, useBrowser } from './support.js'

useBrowser()

const minuteMs = 60_000
const stack = (order: number) =>
  `checkout failed {"order":${order}}\nTypeError: order ${order} has no items\n    at placeOrder (/srv/shop/src/orders.js:${order}:7)`

describe.skipIf(!canOpenPages)('the errors of a bucket', () => {
  it('are listed by kind, the most frequent first, with those that arrive, and lead to their records', async () => {
    const { page, call, problems } = await openPage({ timezoneId: 'UTC' })
    const now = Date.now()
    await page.getByRole('link', { name: 'Errors' }).click()
    await page.getByText('No errors yet').waitFor()
    await log(call, { message: 'all is well', level: 'info', appVersion: '1.4.0', timeStamp: now - 90 * minuteMs })
    for (const order of [17, 18]) await log(call, { message: stack(order), timeStamp: now - 80 * minuteMs })
    await log(call, { message: `${hostile} 42`, appName: 'mail' })
    const kinds = page.locator('[data-error]')
    await expect.poll(() => kinds.count()).toBe(2)
    expect(await kinds.first().locator('a').textContent()).toBe('TypeError: order <n> has no items')
    expect(await kinds.first().locator('code').textContent()).toBe('placeOrder (src/orders.js)')
    expect(await kinds.first().locator('.counted').textContent()).toBe('2')
    expect(await kinds.last().locator('a').textContent()).toBe(
      `${shown.replace('⟦ESC⟧[31m', '').replaceAll(/"[^"]*"/g, '<text>')} <n>`,
    )
    expect(await page.title()).toBe('Errors · Sluice receiver')

    await log(call, { message: 'new here', appVersion: '1.4.1', level: 'fatal' })
    await kinds.filter({ hasText: 'new here' }).getByText('new', { exact: true }).waitFor()
    expect(await page.locator('[data-error] .badge').count()).toBe(1)

    const id = await kinds.first().getAttribute('data-error')
    await page.getByLabel('Time range').selectOption('Last 24 hours')
    await page.getByRole('button', { name: 'shop' }).first().click()
    await expect.poll(() => kinds.count()).toBe(2)
    await kinds.first().locator('a').press('Enter')
    await page.waitForURL((url) => url.hash.startsWith('#logs?'))
    const words = new URLSearchParams(new URL(page.url()).hash.replace('#logs?', ''))
    expect([...words]).toEqual([
      ['q', `error:${id}`],
      ['only', 'appName:shop'],
      ['since', '-24h'],
    ])
    await rowsAre(page, 2)
    await page.goBack()
    await page.getByLabel('Time range').selectOption('Last hour')
    await expect.poll(() => kinds.count()).toBe(1)
    await page.getByLabel('Time range').selectOption('Last 5 minutes')
    await page.getByRole('button', { name: 'Remove the filter appName shop' }).click()
    await expect.poll(() => kinds.count()).toBe(2)
    expect(problems).toEqual([])
  })

  it('fit a narrow screen', async () => {
    const { page, call } = await openPage({ viewport: { width: 390, height: 800 } })
    await log(call, { message: stack(17), appVersion: `1.4.2-${'x'.repeat(60)}` })
    await log(call, { message: 'y'.repeat(190) })
    await page.goto(page.url().replace(/#.*|$/, '#errors'))
    await expect.poll(() => page.locator('[data-error]').count()).toBe(2)
    const { scrollWidth, clientWidth } = await page
      .locator('html')
      .evaluate((html) => ({ scrollWidth: html.scrollWidth, clientWidth: html.clientWidth }))
    expect(scrollWidth).toBeLessThanOrEqual(clientWidth)
  })
})

function log(call: OpenPage['call'], fields: object) {
  const record = { timeStamp: Date.now(), level: 'error', appName: 'shop', appVersion: '1.4.0', ...fields }
  return call('POST', '/logs/demo', record)
}
