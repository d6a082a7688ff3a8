import { describe, expect, it } from 'vitest'
import { canOpenPages, openPage, row, rowsAre, searchBox, useBrowser } from './support.js'

useBrowser()

describe.skipIf(!canOpenPages)('the search of the logs', () => {
  it('is a query, which the receiver answers and the page checks for what arrives', async () => {
    const { page, logger, problems } = await openPage()
    const [shop, billing] = [logger('shop'), logger('billing')]
    const write = () => {
      shop.info({ req: { method: 'GET' }, res: { statusCode: 200 } }, 'request completed')
      shop.error({ req: { method: 'POST' }, res: { statusCode: 503 } }, 'request completed')
      billing.error({ res: { statusCode: 500 } }, 'card declined')
    }
    write()
    await rowsAre(page, 3)
    await searchBox(page).fill('(res.statusCode>=500 -app:billing) OR "request completed" req.method:GET')
    await rowsAre(page, 2)
    write()
    await rowsAre(page, 4)
    await row(page, 'card declined').waitFor({ state: 'detached' })
    expect(problems).toEqual([])
  })

  it('that is wrong says so under the box, asks nobody, and leaves what was found', async () => {
    const { page, logger } = await openPage()
    logger().warn('card declined')
    logger().info('ready')
    await rowsAre(page, 2)
    const box = searchBox(page)
    await box.fill('card')
    await rowsAre(page, 1)
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await box.fill('card level>=loud more')
    const problem = page.locator('.wrong')
    await problem.getByText(/^expected one of .*fatal after "level>=" at 13/).waitFor()
    expect(await problem.locator('code').textContent()).toBe('card level>=loud more')
    expect(await problem.locator('mark').textContent()).toBe('l')
    expect(await box.getAttribute('aria-invalid')).toBe('true')
    expect(await box.getAttribute('aria-describedby')).toBe(await problem.getAttribute('id'))
    await row(page, 'card declined').waitFor()
    expect(asked.filter((url) => url.includes('loud'))).toEqual([])

    await box.fill('card level>=error more')
    await rowsAre(page, 0)
    expect(await box.getAttribute('aria-invalid')).toBe('false')
    expect(await problem.count()).toBe(0)
  })

  it('says what to write instead of a sign that it does not have, and which field or level nobody has', async () => {
    const { page, logger } = await openPage()
    logger().warn({ res: { statusCode: 200 } }, 'card declined')
    await rowsAre(page, 1)
    const box = searchBox(page)
    await box.fill('url:*orders*')
    await page
      .locator('.wrong')
      .getByText(/^unexpected "\*" at 5: write a star at the end/)
      .waitFor()
    for (const [query, hint] of [
      ['status>=500', 'has a field status; known: res.statusCode; did you mean res.statusCode?'],
      ['level=wran', 'has level wran; known: warn; did you mean warn?'],
    ] as const) {
      await box.fill(query)
      await page.locator('.nothing').getByText(`no record of bucket demo ${hint}`).waitFor()
    }
    await box.fill('level!=info')
    await rowsAre(page, 1)
  })

  it('is completed by the keyboard, which takes nothing that was not chosen', async () => {
    const { page, logger } = await openPage()
    for (const method of ['GET', 'GET', 'POST', 'PATCH']) logger().info({ req: { method } }, 'request completed')
    await rowsAre(page, 4)
    const box = searchBox(page)
    const options = page.getByRole('listbox', { name: 'Completions' }).getByRole('option')
    await box.pressSequentially('re')
    await expect.poll(() => options.allTextContents()).toEqual(['req.method: ', 'request 4'])
    await page.keyboard.press('Enter')
    await page.waitForURL(/q=re$/)
    await rowsAre(page, 0)
    expect(await options.count()).toBe(0)

    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await options.and(page.locator('[aria-selected=true]')).filter({ hasText: 'req.method:' }).waitFor()
    expect(await box.getAttribute('aria-activedescendant')).toBe(await options.first().getAttribute('id'))
    await page.keyboard.press('Tab')
    await expect.poll(() => options.allTextContents()).toEqual(['GET 2', 'PATCH 1', 'POST 1'])
    await page.keyboard.type('p')
    await expect.poll(() => options.allTextContents()).toEqual(['PATCH 1', 'POST 1'])
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    expect(await box.inputValue()).toBe('req.method:PATCH ')
    await rowsAre(page, 1)

    await page.keyboard.type('le')
    await options.first().waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => options.count()).toBe(0)
    expect(await box.inputValue()).toBe('req.method:PATCH le')
    await page.keyboard.press('Tab')
    expect(await box.evaluate((each) => each === each.ownerDocument.activeElement)).toBe(false)
    await rowsAre(page, 0)
  })
})
