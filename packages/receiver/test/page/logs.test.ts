import { describe, expect, it } from 'vitest'
import { full } from '../../../../test/support/full.js'
import {
  canOpenPages,
  distanceFromEnd,
  lastRowIs,
  listHas,
  openPage,
  row,
  rows,
  searchBox,
  useBrowser,
} from './support.js'

useBrowser()

describe.skipIf(!canOpenPages)('the list of logs', () => {
  it('shows the lines of a logger as they arrive, the newest at the end', async () => {
    const { page, logger, problems } = await openPage()
    const log = logger()
    log.info({ orderId: 7 }, 'order placed')
    await lastRowIs(page, 'order placed {"orderId":7}')
    log.error(new Error('card declined'), 'payment failed')
    await lastRowIs(page, 'payment failed Error: card declined')
    expect(await rows(page).last().getByRole('cell').allTextContents()).toEqual([
      expect.stringMatching(/^\d\d:\d\d:\d\d\.\d{3}$/),
      'error',
      'shop',
      'payment failed Error: card declined',
    ])
    expect(problems).toEqual([])
  })

  it.runIf(full)('stops following when the person scrolls up, and offers the new lines without moving', async () => {
    const { page, logger } = await openPage()
    const log = logger()
    for (let number = 1; number <= 200; number++) log.info(`line ${number}.`)
    await listHas(page, 200)
    await page.locator('.viewport').hover()
    await page.mouse.wheel(0, -1200)
    await page.getByRole('button', { name: 'Follow', pressed: false }).waitFor()
    const place = () => page.locator('.viewport').evaluate((each) => each.scrollTop)
    const before = await place()
    for (let number = 201; number <= 230; number++) log.info(`line ${number}.`)
    const offer = page.getByRole('button', { name: '30 new' })
    await offer.waitFor()
    expect(await place()).toBe(before)
    await offer.click()
    await listHas(page, 230)
    expect(await distanceFromEnd(page)).toBeLessThan(1)
    expect(await page.getByRole('button', { name: 'Follow', pressed: true }).count()).toBe(1)
  })

  it.runIf(full)('follows again when the person scrolls to the end', async () => {
    const { page, logger } = await openPage()
    const log = logger()
    for (let number = 1; number <= 200; number++) log.info(`line ${number}.`)
    await listHas(page, 200)
    await page.locator('.viewport').hover()
    await page.mouse.wheel(0, -600)
    await page.getByRole('button', { name: 'Follow', pressed: false }).waitFor()
    await page.mouse.wheel(0, 5000)
    await page.getByRole('button', { name: 'Follow', pressed: true }).waitFor()
    log.info('one more')
    await lastRowIs(page, 'one more')
  })

  it.runIf(full)(
    'stands still while a row is open, while text is selected, and while Space has paused it',
    async () => {
      const { page, logger } = await openPage()
      const log = logger()
      log.info('first')
      await row(page, 'first').click()
      await page.getByRole('complementary').waitFor()
      log.info('second')
      await page.getByRole('button', { name: '1 new' }).waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: '1 new' }).click()
      await lastRowIs(page, 'second')

      const box = (await row(page, 'second').getByText('second').boundingBox())!
      await page.mouse.move(box.x + 1, box.y + 8)
      await page.mouse.down()
      await page.mouse.move(box.x + box.width, box.y + 8, { steps: 4 })
      await page.mouse.up()
      await page.getByRole('button', { name: 'Follow', pressed: false }).waitFor()
      expect(await page.evaluate('getSelection().toString().trim()')).toBe('second')
      expect(await page.getByRole('complementary').count()).toBe(0)
      await page.getByRole('button', { name: 'Follow' }).click()

      await page.locator('.viewport').focus()
      await page.keyboard.press('Space')
      await page.getByRole('button', { name: 'Follow', pressed: false }).waitFor()
      log.info('third')
      await page.getByRole('button', { name: '1 new' }).waitFor()
      await page.keyboard.press('Space')
      await lastRowIs(page, 'third')
    },
  )

  it.runIf(full)('has at most 300 rows in the document, and loads older ones as the person scrolls up', async () => {
    const { page, logger } = await openPage({ viewport: { width: 1280, height: 4000 } })
    const log = logger()
    for (let number = 1; number <= 1500; number++) log.info(`line ${number}.`)
    await listHas(page, 1500)
    await page.reload()
    await rows(page).first().waitFor()
    expect(await rows(page).count()).toBeLessThanOrEqual(300)
    await page.locator('.viewport').hover()
    await expect
      .poll(async () => {
        await page.mouse.wheel(0, -5000)
        return row(page, 'line 1.').count()
      })
      .toBe(1)
    expect(await rows(page).count()).toBeLessThanOrEqual(300)
    expect(await page.getByRole('table').getAttribute('aria-rowcount')).toBe('1500')
  })

  it.runIf(full)('moves by j and k, opens by Enter, closes by Esc, searches by / and explains by ?', async () => {
    const { page, logger } = await openPage()
    const log = logger()
    for (const name of ['first', 'second', 'third']) {
      log.info(name)
      await lastRowIs(page, name)
    }
    const current = page.locator('[aria-current=true][data-id]')
    for (const [key, text] of [
      ['j', 'third'],
      ['k', 'second'],
      ['k', 'first'],
      ['j', 'second'],
    ] as const) {
      await page.keyboard.press(key)
      await current.filter({ hasText: text }).waitFor()
    }
    await page.keyboard.press('Enter')
    await page.getByRole('complementary').getByText('second').waitFor()
    await page.keyboard.press('j')
    await page.getByRole('complementary').getByText('third').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('complementary').waitFor({ state: 'detached' })
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.keyboard.press('/')
    await page.keyboard.type('second')
    await row(page, 'third').waitFor({ state: 'detached' })
    await expect.poll(() => rows(page).count()).toBe(1)
  })

  it.runIf(full)('bears a scroll that the browser reports when another view is there', async () => {
    const { page, logger, problems } = await openPage()
    const writer = logger()
    for (let number = 1; number <= 200; number++) writer.info(`line ${number}.`)
    await listHas(page, 200)
    await searchBox(page).fill('line')
    await page.waitForURL(/q=line/)
    await page.setViewportSize({ width: 900, height: 500 })
    await rows(page).first().waitFor()
    await page.evaluate(`{
      const list = document.querySelector('.viewport')
      list.scrollTop = 50
      list.addEventListener('scroll', () => { document.documentElement.dataset.scrolled = '' })
      location.hash = '#content'
    }`)
    await page.getByText('This project has no content types.').waitFor()
    await page.locator('html[data-scrolled]').waitFor()
    expect(problems).toEqual([])
  })

  it.runIf(full)('groups messages that are the same but for numbers and ids', async () => {
    const { page, logger } = await openPage()
    const log = logger()
    for (let number = 0; number < 5; number++)
      log.info(`order ${number} of 5f2504e0-4f89-41d3-9a0c-0305e82c330${number} placed`)
    log.info('ready')
    await listHas(page, 6)
    await page.getByText('View', { exact: true }).click()
    await page.getByLabel('Group similar messages').check()
    await row(page, '5×').waitFor()
    expect(await rows(page).count()).toBe(2)
  })

  it.runIf(full)('groups lines that differ in the id of their request alone, however short or long it is', async () => {
    const { page, logger } = await openPage()
    const log = logger()
    const ids = ['req-1', 'req-a', 'req-21c', 'req-zz', 'V1StGXR8_Z5jdHi6B-myT', 'ab-cd', `${'long-'.repeat(30)}id`]
    for (const reqId of ids) log.info({ reqId, url: `/orders?${'page&'.repeat(60)}` }, 'incoming request')
    for (const id of ['req-2', 'req-b', 'req-3f']) log.info(`request ${id} is done after 2ms`)
    for (const id of ['7', '21c', 'o4']) log.info(`order ${id} is done`)
    log.info('order all is done')
    await listHas(page, ids.length + 7)
    await page.getByText('View', { exact: true }).click()
    await page.getByLabel('Group similar messages').check()
    await row(page, `${ids.length}×incoming request`).waitFor()
    expect(await rows(page).locator('.count').allTextContents()).toEqual([`${ids.length}×`, '3×', '3×', '1×'])
  })
})
