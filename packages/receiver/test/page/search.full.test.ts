import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { canOpenPages, hostile, openPage, row, rows, rowsAre, searchBox, shown, useBrowser } from './support.js'

useBrowser()

describe.skipIf(!canOpenPages)('the search of the logs', () => {
  it('finds what each form of the language means, in what is stored and in what arrives', async () => {
    const { page, call, problems } = await openPage({ viewport: { width: 1280, height: 4000 } })
    const records = [
      { level: 'error', message: 'checkout failed {"reqId":"req-21c","res":{"statusCode":503}}', eventId: 1004 },
      { level: 'ERROR', message: 'card declined {"req":{"method":"POST"},"tags":["vip","eu"]}', env: 'prod' },
      { level: 'warn', message: 'declined the card {"user":{"id":null}}', machineName: 'web-1' },
      { level: 'info', message: 'GET /health 200 {"app":"x","ok":true}', appVersion: '1.4.2' },
      { level: 'debug', message: 'failed to check {"res":{"statusCode":"600"}}', appName: 'billing' },
    ]
    let rounds = 0
    const write = async () => {
      const timeStamp = Date.now()
      for (const record of records) await call('POST', '/logs/demo', { timeStamp, appName: 'shop', ...record })
      rounds++
    }
    await write()
    for (const [query, found] of [
      ['failed checkout', [0]],
      ['"card declined"', [1]],
      ['check*', [0, 4]],
      ['-health', [0, 1, 2, 4]],
      ['NOT health', [0, 1, 2, 4]],
      ['level:error', [0, 1]],
      ['level>=warn', [0, 1, 2]],
      ['app:shop -level:error', [2, 3]],
      ['env:prod', [1]],
      ['host:web-*', [2]],
      ['machine:web-1', [2]],
      ['version:1.4.2', [3]],
      ['event:1004', [0]],
      ['reqId:req-21c', [0]],
      ['req.method:POST', [1]],
      ['res.statusCode>=500', [0]],
      ['res.statusCode:600', [4]],
      ['tags:eu', [1]],
      ['user.id:*', [2]],
      ['ok:true', [3]],
      ['"app":x', [3]],
      ['declined (env:prod OR user.id:null)', [1, 2]],
      ['health OR check', [3, 4]],
      ['since:1h until:2100-01-01 card', [1, 2]],
      ['until:2001-01-01', []],
    ] as const) {
      const texts = () => found.map((index) => records[index]!.message)
      const expected = () => Array.from({ length: rounds }, texts).flat()
      await searchBox(page).fill(query)
      await expect.poll(() => messages(page), { message: query }).toEqual(expected())
      await write()
      await expect.poll(() => messages(page), { message: `${query}, live` }).toEqual(expected())
    }
    expect(problems).toEqual([])
  })

  it.each([
    ['placed -health', 'placed -health', ['order placed']],
    ['order: OR (x', '"order:" "OR" "(x"', ['order or x: {"order":"y"}']],
    ['order:y --placed -- *', '"order:y" -"-placed"', ['order or x: {"order":"y"}']],
  ])('of an older address, %s, means its words', async (text, query, found) => {
    const { page, call } = await openPage()
    for (const message of ['order placed', 'order health', 'order or x: {"order":"y"}'])
      await call('POST', '/logs/demo', { timeStamp: Date.now(), level: 'info', message, appName: 'shop' })
    await page.goto(new URL(`#logs?text=${encodeURIComponent(text)}`, page.url()).href)
    await page.reload()
    await expect.poll(() => messages(page)).toEqual(found)
    expect(await searchBox(page).inputValue()).toBe(query)
  })

  it('completes hostile keys and values as they are, and shows them', async () => {
    const { page, call, problems } = await openPage()
    const send = (message: string, context: object) =>
      call('POST', '/logs/demo', {
        ...{ timeStamp: Date.now(), level: 'info', appName: 'shop' },
        message: `${message} ${JSON.stringify(context)}`,
      })
    const values = [hostile, 'a "b" \\ c', '\\', '"', '', ' ', '*', 'x*', 'NOT', 'a:b', '(x', 'x) OR y', '5', 'ünï']
    const keys = [hostile, 'level', 'since', 'a b', '"', '\\"', 'x:y', '-k', '(', 'k*', 'äö', 'a.0', '<=', '\t']
    for (const [number, value] of values.entries()) {
      await send(`value ${number}.`, { [`of-${number}`]: value })
      await send('longer.', { [`of-${number}`]: `${value}x` })
    }
    for (const [number, key] of keys.entries()) await send(`key ${number}.`, { [`${key}@${number}@`]: 'v' })
    await send('key level.', { level: 'v' })
    await rowsAre(page, 2 * values.length + keys.length + 1)
    const box = searchBox(page)
    const options = page.getByRole('listbox', { name: 'Completions' }).getByRole('option')
    const found = async (message: string) => {
      await expect.poll(() => rows(page).locator('.text').allTextContents(), { message }).toEqual([message])
      await box.fill('')
    }

    for (const number of values.keys()) {
      await box.fill(`of-${number}:`)
      await options.nth(1).waitFor()
      await options.first().click()
      await found(`value ${number}.`)
    }
    for (const number of keys.keys()) {
      await box.fill(`@${number}@`)
      await options.first().waitFor()
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Enter')
      await options.filter({ hasText: 'v 1' }).click()
      await found(`key ${number}.`)
    }
    await box.fill('level')
    expect(await options.allTextContents()).toEqual(['level: ', '"level": ', 'level@1@: '])
    await options.nth(1).click()
    await options.filter({ hasText: 'v 1' }).click()
    await found('key level.')

    await box.fill('@0@')
    await options.filter({ hasText: shown.replaceAll('"', '\\"').slice(0, 40) }).waitFor()
    expect(await page.locator('body script, img').count()).toBe(0)
    expect(problems).toEqual([])
  })

  it('takes hostile filters into one query, and does itself what does not fit', async () => {
    const { page, call } = await openPage()
    const line = (message: string, more = {}) =>
      call('POST', '/logs/demo', { timeStamp: Date.now(), level: 'info', message, appName: 'shop', ...more })
    await line(`one ${JSON.stringify({ name: hostile, list: ['a "b"', 'c\nd'] })}`, { env: '' })
    await line(`two ${JSON.stringify({ name: hostile, list: ['a "b"'] })}`, { env: 'x"' })
    await line('three foo(', { env: 'x"' })
    const asked: URLSearchParams[] = []
    page.on('request', (request) => {
      const url = new URL(request.url())
      if (url.pathname === '/api/logs/demo') asked.push(url.searchParams)
    })
    const open = async (query: Readonly<Record<string, string>>, found: readonly string[]) => {
      await page.goto(new URL(`#logs?${new URLSearchParams(query)}`, page.url()).href)
      await expect.poll(() => rows(page).locator('.text').allTextContents()).toEqual(found)
    }
    await open({ only: `context.name:${hostile}` }, ['one', 'two'])
    await open({ only: `context.name:${hostile}`, not: 'context.list:c\nd' }, ['two'])
    // An older address has the place in the list.
    await open({ only: 'context.list.1:c\nd' }, ['one'])
    await open({ not: 'env:x"', q: 'one OR two' }, ['one'])
    await open({ only: 'env:x"', q: 'two OR foo(' }, ['two', 'three foo('])
    expect(asked.at(-1)!.get('q')).toBe('(two OR foo( ) env:"x\\""')
    await page.getByText('2 records', { exact: true }).waitFor()

    const long = `${'-nothing '.repeat(90)}x OR three OR two`
    await open({ only: `env:${'y'.repeat(300)}`, q: long }, [])
    await open({ not: `env:${'y'.repeat(300)}`, only: 'env:x"', q: long }, ['two', 'three foo('])
    expect(asked.at(-1)!.get('q')).toBe(`(${long} ) env:"x\\""`)
  })

  it('that the receiver has cut says how far it has looked, and goes on by a button', async () => {
    const { page, call } = await openPage({ timezoneId: 'UTC' })
    for (let number = 0; number < 4; number++)
      await call('POST', '/logs/demo', {
        ...{ timeStamp: Date.UTC(2026, 0, 31, 20, number), level: 'info', appName: 'shop' },
        message: `minute ${number}.`,
      })
    await rowsAre(page, 4)
    const ids = await rows(page).evaluateAll((all) => all.map((each) => Number(each.getAttribute('data-id'))))
    // The receiver looks at one record at a time.
    await page.route(/\/api\/logs\/demo\?.*q=minute/, async (route) => {
      const before = Number(new URL(route.request().url()).searchParams.get('before') ?? ids[3]! + 1)
      const at = ids.findLast((id) => id < before)
      const list = at === ids[0] ? (await call('GET', `/api/logs/demo?before=${before}&limit=1`)).body.list : []
      const cut = at === undefined ? {} : { incomplete: true, next: at }
      await route.fulfill({ json: { total: list.length, totalIsAtLeast: true, list, ...cut } })
    })
    await searchBox(page).fill('minute')
    const line = page.locator('.bar')
    await line.getByText('Searched back to 2026-01-31 20:02:00.000 UTC.').waitFor()
    expect(await page.getByText('No record matches').count()).toBe(0)
    for (const minute of [1, 0]) {
      await line.getByRole('button', { name: 'Search further' }).click()
      await line.getByText(`Searched back to 2026-01-31 20:0${minute}:00.000 UTC.`).waitFor()
      expect(await rows(page).count()).toBe(0)
    }
    await line.getByRole('button', { name: 'Search further' }).click()
    await row(page, 'minute 0.').waitFor()
    await line.waitFor({ state: 'detached' })
  })

  it('of a link that is wrong shows nothing and asks nobody, until it is mended', async () => {
    const { page, logger } = await openPage()
    const log = logger()
    log.warn('late')
    await rowsAre(page, 1)
    const asked: string[] = []
    page.on('request', (request) => {
      // Account asks for reports of the library.
      if (/api\/(logs|facets)(?!.*sluice)/.test(request.url())) asked.push(request.url())
    })
    await page.goto(new URL('#logs?q=level:', page.url()).href)
    await page.reload()
    await page.locator('.wrong').getByText('expected a value after "level:" at 7').waitFor()
    log.warn('later')
    await page.getByRole('link', { name: 'Account' }).click()
    await page.getByRole('row', { name: 'shop 1' }).waitFor()
    await page.goBack()
    await page.locator('.wrong').waitFor()
    expect(await rows(page).count()).toBe(0)
    expect(await page.getByText('No record').count()).toBe(0)
    expect(asked).toEqual([])
    await searchBox(page).fill('level:warn')
    await rowsAre(page, 2)
  })

  it('can be begun from the details of a record by each value that it can find', async () => {
    const { page, logger } = await openPage()
    const many = Object.fromEntries(Array.from({ length: 62 }, (_, number) => [`n${number}`, number]))
    logger().info({ long: 'x'.repeat(300), list: ['first', 'second'], ...many, last: 'z' }, 'found')
    logger().info({ list: ['other', 'first'], 'a.b': 1 }, 'like it')
    await rowsAre(page, 2)
    await row(page, 'found').click()
    const tree = page.getByRole('region', { name: 'Context' })
    await tree.getByText('n61').waitFor()
    const line = (name: string) => tree.locator('.leaf', { hasText: name })
    for (const [name, buttons] of [
      ['long', 0],
      ['n60', 2],
      ['last', 0],
    ] as const)
      expect(await line(name).getByRole('button').count(), name).toBe(buttons)
    await line('first').getByRole('button', { name: 'Only this context.list' }).click()
    await page.waitForURL(/only=context.list%3Afirst$/)
    await rowsAre(page, 2)
    await row(page, 'found').click()
    await line('second').getByRole('button', { name: 'Not this context.list' }).click()
    await rowsAre(page, 1)
    await row(page, 'like it').waitFor()
  })

  it('can be used in a narrow window, and by the mouse', async () => {
    const { page, logger } = await openPage({ viewport: { width: 360, height: 700 } })
    logger().info({ tenant: 'a-tenant-with-a-rather-long-name-without-a-space-in-it' }, 'ready')
    await rowsAre(page, 1)
    await searchBox(page).fill('ten')
    const options = page.getByRole('listbox', { name: 'Completions' }).getByRole('option')
    await options.filter({ hasText: 'tenant:' }).click()
    await options.filter({ hasText: 'a-tenant' }).waitFor()
    await page.keyboard.press('ArrowDown')
    const list = (await page.locator('.search .below').boundingBox())!
    expect(list.x).toBeGreaterThanOrEqual(0)
    expect(list.x + list.width).toBeLessThanOrEqual(360)
    expect(await page.evaluate('document.querySelector("main").scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
    await options.first().click()
    await rowsAre(page, 1)
    expect(await searchBox(page).inputValue()).toBe('tenant:a-tenant-with-a-rather-long-name-without-a-space-in-it ')
  })
})

/** The messages of the rows that are in the document. */
function messages(page: Page): Promise<string[]> {
  return rows(page)
    .locator('.message')
    .evaluateAll((all) => all.map((each) => each.textContent!.trim()))
}
