import type { Page } from 'playwright-core'
import { afterAll, describe, expect, it } from 'vitest'
import { Cluster } from '../postgres/cluster.js'
import { postgresInstalled, withPostgres } from '../postgres/installation.js'
import { stopServers } from '../postgres/server.js'
import {
  canOpenPages,
  hostile,
  lastRowIs,
  listHas,
  openPage,
  row,
  rows,
  rowsAre,
  searchBox,
  shown,
  useBrowser,
} from './support.js'

useBrowser()
afterAll(stopServers)

describe.skipIf(!canOpenPages)('the details of a record', () => {
  it('have all fields, the context as a tree, and the stack folded', async () => {
    const { page, logger } = await openPage()
    const log = logger()
    log.error({ err: new Error('card declined'), cart: { items: [{ sku: 'A-1' }] }, eventId: 1001 }, 'payment failed')
    await row(page, 'payment failed').click()
    const details = page.getByRole('complementary')
    await details.getByText('payment failed').waitFor()
    await details.getByText('Error: card declined').waitFor()
    expect(await details.locator('.stack details').getAttribute('open')).toBeNull()
    for (const name of ['level', 'appName', 'machineName', 'env', 'eventId', 'runtimeVersion', 'receivedAt']) {
      expect(await details.locator('dt', { hasText: new RegExp(`^${name}$`) }).count(), name).toBe(1)
    }
    const tree = details.getByRole('region', { name: 'Context' })
    await tree.locator('summary', { hasText: '0' }).last().click()
    await tree.getByText('A-1').waitFor()
  })

  it('lead to all lines of the same request and to the surrounding lines of the process', async () => {
    const { page, logger } = await openPage()
    const log = logger()
    log.info({ requestId: 'r-1' }, 'begin')
    log.info({ requestId: 'r-2' }, 'begin')
    log.info({ requestId: 'r-1' }, 'end')
    logger('other').info('elsewhere')
    await rowsAre(page, 4)
    await row(page, 'end').click()
    await page.getByRole('button', { name: 'All of this requestId' }).click()
    await rowsAre(page, 2)
    await row(page, 'begin').click()
    await page.getByRole('button', { name: 'Surrounding lines' }).click()
    await rowsAre(page, 3)
  })

  it.each([
    { name: 'SQLite', isInstalled: true, database: async () => undefined },
    {
      name: withPostgres('PostgreSQL'),
      isInstalled: postgresInstalled,
      database: async () => (await Cluster.start()).createDatabase(),
    },
  ])('lead over $name to the nearest lines before and after', async ({ isInstalled, database }) => {
    if (!isInstalled) return
    const { page, call } = await openPage({ database: await database() })
    const line = (number: number, appName = 'shop') =>
      call('POST', '/logs/demo', { timeStamp: Date.now(), level: 'info', message: `line ${number}.`, appName })
    for (let number = 1; number <= 450; number++) {
      await line(number)
      await line(number, 'other')
    }
    const text = searchBox(page)
    await text.fill('50')
    await row(page, 'line 50.').first().click()
    await page.getByRole('button', { name: 'Surrounding lines' }).click()
    await listHas(page, 200)
    const link = page.url()
    await expect.poll(() => isInWindow(page, 'line 50.')).toBe(true)
    await row(page, 'line 51.').waitFor()
    await page.getByRole('complementary').getByText('line 50.').waitFor()
    await page.getByRole('button', { name: 'Follow' }).click()
    await lastRowIs(page, 'line 450.')

    // Those before the last ones, of which there are not as many.
    const id = Number(await row(page, 'line 440.').getAttribute('data-id'))
    await page.goto(link.replace(/\bid=\d+/, `id=${id}`).replace(/around=\d+/, `around=${id}`))
    await listHas(page, 450)
    await lastRowIs(page, 'line 450.')
  })

  it('show markup, escape sequences and signs that turn the text around as text, in every field', async () => {
    const { page, call, problems } = await openPage()
    await call('POST', '/logs/demo', {
      ...{ timeStamp: Date.now(), level: hostile, appName: hostile, machineName: hostile, env: hostile },
      ...{ appVersion: hostile, runtimeVersion: hostile },
      message: `${hostile} ${JSON.stringify({ [hostile]: hostile })}\n${hostile}`,
    })
    await row(page, 'gnp.exe').click()
    const details = page.getByRole('complementary')
    await expect.poll(() => details.getByText(shown).count()).toBeGreaterThanOrEqual(7)
    await page.getByText('Filters', { exact: true }).click()
    expect(await page.title()).toBe('Logs · Sluice receiver')
    expect(await page.locator('body script, img').count()).toBe(0)
    const text = await page.locator('body').textContent()
    for (const sign of ['\u001b', '\u202e']) expect(text).not.toContain(sign)
    expect(problems).toEqual([])
  })

  it('show the beginning of a line of a megabyte, and all of it on demand', async () => {
    const { page, call } = await openPage()
    const message = 'long '.repeat(200_000)
    await call('POST', '/logs/demo', { timeStamp: Date.now(), level: 'info', message, appName: 'shop' })
    await lastRowIs(page, 'long long')
    expect((await rows(page).last().textContent())!.length).toBeLessThan(5_000)
    await rows(page).last().click()
    const text = page.getByRole('complementary').locator('pre.message')
    expect((await text.textContent())!.length).toBeLessThan(30_000)
    await page.getByRole('button', { name: 'Show all 1,000,000 characters' }).click()
    await expect.poll(async () => (await text.textContent())!.length).toBe(message.length)
  })
})

/** True if the list has scrolled to the line. */
async function isInWindow(page: Page, text: string): Promise<boolean> {
  const [line, list] = [await row(page, text).boundingBox(), await page.locator('.viewport').boundingBox()]
  return line !== null && list !== null && line.y >= list.y && line.y + line.height <= list.y + list.height
}
