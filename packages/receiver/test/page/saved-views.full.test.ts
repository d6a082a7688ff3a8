import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { article } from '../support.js'
import { canOpenPages, openPage, rowsAre, useBrowser } from './support.js'

useBrowser()

describe.skipIf(!canOpenPages)('saved views', () => {
  it('keep an address under a name, across reloads and for all who sign in, until they are deleted', async () => {
    const { url, apiKey, page, logger, problems } = await openPage()
    const log = logger()
    log.info('ready')
    log.warn('late')
    await rowsAre(page, 2)
    const context = await page.context().browser()!.newContext()
    onTestFinished(() => context.close())
    const other = await context.newPage()
    await other.goto(url)
    await other.getByLabel('API key').fill(apiKey)
    await other.keyboard.press('Enter')
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

  it('are at most two hundred: the next one is refused, and one of the same name is replaced', async () => {
    const { page, call, logger } = await openPage()
    logger().info('ready')
    await rowsAre(page, 1)
    for (let number = 0; number < 200; number++) await call('PUT', `/api/views/view ${number}`, { hash: '#values' })
    await openMenu(page)
    await page.getByLabel('Name of this view').fill('one more')
    await page.keyboard.press('Enter')
    await page.getByText('there are 200 saved views already: delete one first').waitFor()
    await save(page, 'view 7')
    await expect.poll(() => saved(page).count()).toBe(200)
    await page.getByRole('button', { name: 'Delete the view view 8', exact: true }).click()
    await page.getByRole('button', { name: 'view 8', exact: true }).waitFor({ state: 'detached' })
    await save(page, 'one more')
    const { list } = (await call('GET', '/api/views')).body
    expect(list.find(({ name }: { name: string }) => name === 'view 7')).toEqual({ name: 'view 7', hash: '#logs' })
  })

  it('that the browser has kept are moved once, and those that cannot be moved stay in it', async () => {
    const { page, call, logger } = await openPage()
    logger().info('ready')
    await rowsAre(page, 1)
    for (let number = 0; number < 197; number++) await call('PUT', `/api/views/view ${number}`, { hash: '#values' })
    const kept = [
      { name: 'mine', hash: '#logs?level=warn' },
      { name: 'view 7', hash: '#logs' },
      { name: 'view 8', hash: '#values' },
      { name: 'a/b?c#d %', hash: '#account' },
      { name: 'too many', hash: '#account' },
    ]
    await keep(page, JSON.stringify([null, ...kept]))
    await openMenu(page)
    await page.getByText('Saved views that stay in this browser: 1. there are 200 saved views already').waitFor()
    await expect.poll(() => saved(page).count()).toBe(200)
    for (const name of ['mine', 'view 7 (2)', 'a/b?c#d %']) {
      await page.getByRole('button', { name, exact: true }).waitFor()
    }
    expect(JSON.parse(await inBrowser(page))).toEqual([kept[4]])
    await page.getByRole('button', { name: 'Delete the view a/b?c#d %' }).click()
    await page.getByRole('button', { name: 'a/b?c#d %', exact: true }).waitFor({ state: 'detached' })
    await openMenu(page)
    await openMenu(page)
    await page.getByRole('button', { name: 'too many', exact: true }).waitFor()
    await page.getByText('are now at the receiver, for all who sign in: 1.').waitFor()
    expect(await inBrowser(page)).toBeNull()
  })

  it('have nothing of what else the browser has kept under their name, and long names stay in the menu', async () => {
    const { page, logger, problems } = await openPage()
    logger().info('ready')
    for (const text of ['{', '"x"', '[null, 1, {"name": 7}]']) {
      await keep(page, text)
      await page.reload()
      await rowsAre(page, 1)
      await openMenu(page)
      expect(await saved(page).count()).toBe(0)
      expect(await inBrowser(page)).toBe(text)
    }
    await save(page, 'a name as long as the field takes '.repeat(2).trim())
    const panel = page.locator('.panel')
    expect(await panel.evaluate((each) => each.scrollWidth - each.clientWidth)).toBe(0)
    expect(problems).toEqual([])
  })
})

function saved(page: Page) {
  return page.getByRole('region', { name: 'Saved views' }).getByRole('listitem')
}

/** The text where a browser kept saved views before the receiver did. */
function inBrowser(page: Page): Promise<string> {
  return page.evaluate("localStorage.getItem('sluice-saved-views')")
}

/** Puts a text there. */
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
