import { describe, expect, it } from 'vitest'
import { canOpenPages, lastRowIs, listHas, type OpenPage, openPage, row, rows, useBrowser } from './support.js'

useBrowser()

describe.skipIf(!canOpenPages)('the page in a hidden tab', () => {
  it('closes its stream, and resumes it where it was when it is shown again', async () => {
    const { page, call } = await openPage()
    const line = (message: string) =>
      call('POST', '/logs/demo', { timeStamp: Date.now(), level: 'info', message, appName: 'shop' })
    await line('before')
    await lastRowIs(page, 'before')
    const streams: (string | undefined)[] = []
    page.on('request', (request) => {
      if (request.url().includes('/api/live')) streams.push(request.headers()['last-event-id'])
    })
    const closed = page.waitForEvent('requestfailed', (request) => request.url().includes('/api/live'))
    await setHidden(page, true)
    await closed
    await page.getByText('connecting', { exact: true }).waitFor()
    await line('meanwhile')
    expect(streams).toEqual([])
    expect(await row(page, 'meanwhile').count()).toBe(0)

    await setHidden(page, false)
    await lastRowIs(page, 'meanwhile')
    expect(streams).toEqual([expect.stringMatching(/./)])
    await line('after')
    await lastRowIs(page, 'after')
    expect(await rows(page).locator('.text').allTextContents()).toEqual(['before', 'meanwhile', 'after'])
  })
})

describe.skipIf(!canOpenPages)('the page with many lines', () => {
  it('has at most 300 of 5,000 in the document, at the end, at the beginning and between', async () => {
    const { page, logger } = await openPage({ viewport: { width: 1280, height: 4000 } })
    const log = logger()
    for (let number = 1; number <= 5000; number++) log.info(`line ${number}.`)
    await listHas(page, 5000)
    const rowNumbered = (number: number) => page.locator(`[role=row][aria-rowindex="${number}"]`)
    await rowNumbered(5000).waitFor()
    expect(await rows(page).count()).toBeLessThanOrEqual(300)
    await page.getByRole('button', { name: 'Follow', pressed: true }).click()
    for (const [share, number] of [
      [0.5, 2550],
      [0, 1],
    ] as const) {
      await page.locator('.viewport').evaluate((each, at) => {
        each.scrollTop = each.scrollHeight * at
      }, share)
      await rowNumbered(number).waitFor()
      expect(await rows(page).count()).toBeLessThanOrEqual(300)
    }
  })
})

/** Browsers under test never hide a tab by themselves. */
async function setHidden(page: OpenPage['page'], hidden: boolean): Promise<void> {
  await page.evaluate(`
    Object.defineProperty(document, 'hidden', { configurable: true, value: ${hidden} })
    document.dispatchEvent(new Event('visibilitychange'))
  `)
}
