import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { article } from '../support.js'
import { canOpenPages, openPage, rowsAre, useBrowser } from './support.js'

useBrowser()

describe.skipIf(!canOpenPages)('saved views', () => {
  it('keep an address under a name, across reloads and in other tabs, until they are deleted', async () => {
    const { page, logger, problems } = await openPage()
    const log = logger()
    log.info('ready')
    log.warn('late')
    await rowsAre(page, 2)
    const other = await page.context().newPage()
    await other.goto(page.url())
    await rowsAre(other, 2)

    await page.getByRole('button', { name: 'warn', exact: true }).click()
    await rowsAre(page, 1)
    await openMenu(page)
    await save(page, '  only warnings ')
    await page.reload()
    await page.getByRole('button', { name: 'warn', exact: true }).click()
    await rowsAre(page, 2)
    await openMenu(page)
    await page.getByRole('button', { name: 'only warnings', exact: true }).click()
    await page.waitForURL(/#logs\?level=warn$/)
    await rowsAre(page, 1)

    await openMenu(other)
    await other.getByRole('button', { name: 'only warnings', exact: true }).click()
    await rowsAre(other, 1)
    await openMenu(other)
    await other.getByRole('button', { name: 'Delete the view only warnings' }).click()
    await openMenu(page)
    await page.getByRole('button', { name: 'only warnings', exact: true }).waitFor({ state: 'detached' })
    expect(problems).toEqual([])
  })

  it('are kept and opened on every page', async () => {
    const { page, call, problems } = await openPage()
    await call('POST', '/api/projects', { id: 'other' })
    await call('POST', '/api/projects/other/content-types', article)
    await page.reload()
    for (const name of ['Values', 'Account', 'Rejected', 'Content']) {
      await page.getByRole('link', { name }).click()
      await page.getByLabel('Bucket').selectOption('other')
      await openMenu(page)
      await save(page, `other ${name}`)
      await page.getByLabel('Bucket').selectOption('demo')
    }
    await page.getByRole('button', { name: 'other Values', exact: true }).click()
    await page.waitForURL(/#values\?bucket=other$/)
    await page.getByRole('heading', { name: 'Values' }).waitFor()
    await openMenu(page)
    await page.getByRole('button', { name: 'other Content', exact: true }).click()
    await page.getByText('required, at most 10 characters').waitFor()
    expect(await page.getByLabel('Bucket').inputValue()).toBe('other')
    await openMenu(page)
    await page.getByRole('button', { name: 'Delete the view other Values' }).click()
    await page.getByRole('button', { name: 'other Values', exact: true }).waitFor({ state: 'detached' })
    expect(problems).toEqual([])
  })

  it('are at most a hundred: the next one is refused, and one of the same name is replaced', async () => {
    const { page, logger } = await openPage()
    logger().info('ready')
    await rowsAre(page, 1)
    const hundred = Array.from({ length: 100 }, (_, number) => ({ name: `view ${number}`, hash: '#values' }))
    await keep(page, JSON.stringify(hundred))
    await page.reload()
    await rowsAre(page, 1)
    await openMenu(page)
    await page.getByLabel('Name of this view').fill('one more')
    await page.keyboard.press('Enter')
    await page.getByText('there are 100 already; delete one first').waitFor()
    await save(page, 'view 7')
    expect(await page.getByRole('region', { name: 'Saved views' }).getByRole('listitem').count()).toBe(100)
    await page.getByRole('button', { name: 'Delete the view view 8', exact: true }).click()
    await save(page, 'one more')
    const kept = JSON.parse(await page.evaluate("localStorage.getItem('sluice-saved-views')"))
    expect(kept.find(({ name }: { name: string }) => name === 'view 7')).toEqual({ name: 'view 7', hash: '#logs' })
  })

  it('begin anew where the browser has kept something else under their name, and long names stay in the menu', async () => {
    const { page, logger, problems } = await openPage()
    logger().info('ready')
    for (const text of ['{', '"x"', '[null, 1, {"name": 7}]']) {
      await keep(page, text)
      await page.reload()
      await rowsAre(page, 1)
      await openMenu(page)
      expect(await page.getByRole('region', { name: 'Saved views' }).getByRole('listitem').count()).toBe(0)
    }
    await save(page, 'a name as long as the field takes '.repeat(2).trim())
    const panel = page.locator('.panel')
    expect(await panel.evaluate((each) => each.scrollWidth - each.clientWidth)).toBe(0)
    expect(problems).toEqual([])
  })
})

/** Puts a text where the browser keeps the saved views. */
function keep(page: Page, text: string): Promise<void> {
  return page.evaluate(`localStorage.setItem('sluice-saved-views', ${JSON.stringify(text)})`)
}

function openMenu(page: Page): Promise<void> {
  return page.getByText('View', { exact: true }).click()
}

/** Saves the present view, and waits until it is listed. */
async function save(page: Page, name: string): Promise<void> {
  const field = page.getByLabel('Name of this view')
  await field.fill(name)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: name.trim(), exact: true }).waitFor()
  await expect.poll(() => field.inputValue()).toBe('')
}
