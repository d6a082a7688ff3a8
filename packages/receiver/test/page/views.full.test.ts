import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { canOpenPages, lastRowIs, listHas, openPage, row, rows, rowsAre, searchBox, useBrowser } from './support.js'

useBrowser()

describe.skipIf(!canOpenPages)('a view', () => {
  it('is in the address: levels, search and filters are the same after a reload and in another tab', async () => {
    const { page, logger } = await openPage()
    const [shop, billing] = [logger('shop'), logger('billing')]
    shop.info({ orderId: 7 }, 'order placed')
    shop.warn({ orderId: 7 }, 'order late')
    shop.warn({ orderId: 8 }, 'order late')
    billing.warn({ orderId: 7 }, 'order unpaid')
    billing.debug('idle')
    await rowsAre(page, 5)

    await page.getByRole('button', { name: 'warn', exact: true }).click()
    await rowsAre(page, 3)
    expect(await page.getByRole('button', { name: 'warn', exact: true }).getAttribute('aria-pressed')).toBe('true')
    await searchBox(page).fill('order')
    await page.waitForURL(/q=order/)
    await row(page, 'order unpaid').click()
    await page.getByRole('button', { name: 'Not this appName' }).click()
    await rowsAre(page, 2)
    await row(page, '{"orderId":7}').click()
    await page.getByRole('button', { name: 'Only this context.orderId' }).click()
    await rowsAre(page, 1)

    const other = await page.context().newPage()
    await other.goto(page.url())
    await searchBox(other).waitFor()
    await expect
      .poll(() => rows(other).allTextContents())
      .toEqual([expect.stringContaining('order late {"orderId":7}')])
    expect(await searchBox(other).inputValue()).toBe('order')

    await page.goBack()
    await rowsAre(page, 2)
    shop.warn({ orderId: 9 }, 'order late')
    shop.info({ orderId: 9 }, 'order placed')
    await page.getByRole('button', { name: '1 new' }).click()
    await rowsAre(page, 3)
  })

  it('counts the lines of each level and offers the values that occur as filters', async () => {
    const { page, logger } = await openPage()
    const log = logger()
    for (let number = 0; number < 3; number++) log.info({ tenant: number < 2 ? 'red' : 'blue' }, 'request')
    log.error('failed')
    await rowsAre(page, 4)
    await page.reload()
    await page.locator('.chip', { hasText: 'info 3' }).waitFor()
    await page.locator('.chip', { hasText: 'error 1' }).waitFor()
    await page.getByText('Filters', { exact: true }).click()
    await page.getByRole('button', { name: 'red 2' }).click()
    await rowsAre(page, 2)
    await page.getByRole('button', { name: 'Remove the filter tenant red' }).click()
    await rowsAre(page, 4)
  })

  it('says of which records the values of its filters are', async () => {
    const { page, logger } = await openPage()
    const log = logger()
    for (let number = 1; number <= 1200; number++) log.info({ tenant: number % 2 === 0 ? 'red' : 'blue' }, 'request')
    log.error('failed')
    await listHas(page, 1201)
    await page.reload()
    const panel = page.locator('.facets')
    await page.getByText('Filters', { exact: true }).click()
    await panel.getByText('Values of the newest 1,201 records that match.').waitFor()
    const loaded = Number(await page.getByRole('table').getAttribute('aria-rowcount'))
    expect(loaded).toBeLessThan(1000)
    await panel.getByText(`Of the context: values of the newest ${loaded} records that are loaded.`).waitFor()
    await page.getByText('Filters', { exact: true }).click()
    await page.getByRole('button', { name: 'error', exact: true }).click()
    await rowsAre(page, 1)
    await page.getByText('Filters', { exact: true }).click()
    await panel.getByText('Values of the newest 1 record that matches.').waitFor()
  })

  it('that finds nothing says that search takes whole words, while longer ones are offered in the box', async () => {
    const { page, logger } = await openPage()
    const log = logger()
    log.info('checkout of cart 7')
    log.info('checkout of cart 8 is done')
    log.info('recheck stock')
    await rowsAre(page, 3)
    await searchBox(page).fill('of check')
    await page.getByText('Search takes whole words: check* finds those that begin with check.').waitFor()
    await page.getByRole('option', { name: 'checkout 2' }).click()
    await rowsAre(page, 2)
    expect(await searchBox(page).inputValue()).toBe('of checkout ')
    await searchBox(page).fill('check* of')
    await rowsAre(page, 2)
    await page.waitForURL(/q=check\*\+of$/)
  })

  it('does not get the search that was written just before another view was opened', async () => {
    const { page, logger } = await openPage()
    logger().info('ready')
    await rowsAre(page, 1)
    await page.clock.install()
    // Both at once: the search begins a moment after the last letter.
    await page.evaluate(`{
      const box = document.querySelector('.search input')
      box.value = 'ready'
      box.dispatchEvent(new Event('input', { bubbles: true }))
      document.querySelector('a[href^="#content"]').click()
    }`)
    await page.getByText('This project has no content types.').waitFor()
    await page.clock.runFor(1000)
    expect(page.url()).toMatch(/#content$/)
  })

  it('of a link to a record opens it among the lines around it', async () => {
    const { page, call } = await openPage()
    for (let number = 1; number <= 600; number++) {
      await call('POST', '/logs/demo', {
        timeStamp: number * 1e9,
        level: 'info',
        message: `line ${number}.`,
        appName: 'shop',
      })
    }
    await listHas(page, 600)
    const id = Number(await rows(page).last().getAttribute('data-id')) - 500
    await page.goto(new URL(`#logs?id=${id}&around=${id}`, page.url()).href)
    await page.reload()
    await page.getByRole('complementary').getByText('line 100.').waitFor()
    await row(page, 'line 99.').waitFor()
    await row(page, 'line 101.').waitFor()
    await page.getByRole('button', { name: 'Follow' }).click()
    await lastRowIs(page, 'line 600.')
  })

  it('is zoomed to the time that is dragged over in the bars', async () => {
    const { page, call } = await openPage()
    for (let minute = 0; minute < 10; minute++) {
      const timeStamp = Date.UTC(2026, 0, 31, 20, minute)
      await call('POST', '/logs/demo', { timeStamp, level: 'info', message: `minute ${minute}.`, appName: 'shop' })
    }
    await rowsAre(page, 10)
    await page.reload()
    const bars = (await page.locator('.histogram .plot').boundingBox())!
    await page.mouse.move(bars.x + bars.width * 0.45, bars.y + 10)
    await page.mouse.down()
    await page.mouse.move(bars.x + bars.width * 0.85, bars.y + 10, { steps: 5 })
    await page.mouse.up()
    await page.waitForURL(/since=2026-01-31T20.*until=2026-01-31T20/)
    await expect
      .poll(() => rows(page).locator('.text').allTextContents())
      .toEqual(['minute 5.', 'minute 6.', 'minute 7.'])
  })

  it('shows what its words find as it arrives, whichever form a letter has', async () => {
    const { page, call } = await openPage()
    await page.goto(new URL(`#logs?text=${encodeURIComponent('5 \u03bcs')}`, page.url()).href)
    await page.reload()
    await page.getByText('No record matches').waitFor()
    for (const message of ['5 \u00b5s', '5 ms'])
      await call('POST', '/logs/demo', { timeStamp: Date.now(), level: 'info', message, appName: 'shop' })
    await row(page, '5 \u00b5s').waitFor()
    await rowsAre(page, 1)
    await page.reload()
    await rowsAre(page, 1)
  })

  it('can be exported as NDJSON and as CSV', async () => {
    const { page, logger, call } = await openPage()
    const log = logger()
    log.info('say "hi", all')
    log.warn('=1+1')
    log.debug('left out')
    const inNanoseconds = { timeStamp: 1_700_000_000_000_000_000, message: 'in ns', runtimeVersion: 'v1.1.1' }
    await call('POST', '/logs/demo', { ...inNanoseconds, level: 'info', appName: 'shop' })
    await rowsAre(page, 4)
    await page.getByRole('button', { name: 'info', exact: true }).click()
    await page.getByRole('button', { name: 'warn', exact: true }).click()
    const save = async (name: string) => {
      await page.getByText('View', { exact: true }).click()
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name }).click()])
      return await readFile(await download.path(), 'utf8')
    }
    const lines = (await save('Export as NDJSON')).trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line).message).sort()).toEqual(['=1+1', 'in ns', 'say "hi", all'])
    const csv = (await save('Export as CSV')).trimEnd().split('\r\n')
    expect(csv[0]).toMatch(/^time,id,/)
    expect(csv).toContainEqual(
      expect.stringMatching(/^2023-11-14T22:13:20.000Z,\d+,[^,]+,1700000000000000000,info,shop,.*,in ns$/),
    )
    expect(
      csv
        .slice(1)
        .map((line) => line.replace(/^.*?v\d+\.\d+\.\d+,/, ''))
        .sort(),
    ).toEqual([`"say ""hi"", all"`, "'=1+1", 'in ns'])
  })

  it('has times in UTC on request', async () => {
    const { page, call } = await openPage({ timezoneId: 'Asia/Tokyo' })
    const timeStamp = Date.UTC(2026, 0, 31, 20, 30)
    await call('POST', '/logs/demo', { timeStamp, level: 'info', message: 'hello', appName: 'shop' })
    await row(page, '02-01 05:30:00.000').waitFor()
    await page.getByRole('button', { name: 'UTC' }).click()
    await row(page, '01-31 20:30:00.000').waitFor()
    // The browser remembers it, whatever address is opened next.
    await page.goto(new URL('/#logs', page.url()).href)
    await page.reload()
    await row(page, '01-31 20:30:00.000').waitFor()
    await page.getByRole('button', { name: 'UTC', pressed: true }).click()
    await page.reload()
    await row(page, '02-01 05:30:00.000').waitFor()
  })
})
