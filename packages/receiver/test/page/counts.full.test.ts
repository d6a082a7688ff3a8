import type { Page, Route } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { canOpenPages, listHas, type OpenPage, openPage, row, rows, rowsAre, searchBox, useBrowser } from './support.js'

useBrowser()

describe.skipIf(!canOpenPages)('the bars above the logs', () => {
  it('count all records that match, also those that are not loaded, and those that arrive', async () => {
    const { page, logger } = await openPage()
    const log = logger()
    for (let number = 1; number <= 1500; number++) log[number % 10 === 0 ? 'warn' : 'info'](`line ${number}.`)
    await listHas(page, 1500)
    await page.reload()
    await chart(page, '1,500 records').waitFor()
    expect(Number(await page.getByRole('table').getAttribute('aria-rowcount'))).toBeLessThan(1000)
    await chip(page, 'info 1.4K').waitFor()
    log.warn('one more')
    await chart(page, '1,501 records').waitFor()
    await page.getByRole('button', { name: 'warn', exact: true }).click()
    await chart(page, '151 records').waitFor()
    // The numbers of the other levels stay.
    await chip(page, 'info 1.4K').waitFor()
  })

  it('are of the loaded records where a condition is one that only the page knows', async () => {
    const { page, logger } = await openPage()
    const log = logger()
    for (let number = 1; number <= 1200; number++) log.info('request')
    await listHas(page, 1200)
    await page.goto(addressOf(page, 'not=runtimeVersion%3Av1'))
    await page.reload()
    await page.getByRole('img', { name: /^\d+ of the loaded records over time, by level$/ }).waitFor()
    await page.getByRole('button', { name: 'info', exact: true, pressed: false }).waitFor()
    expect(await chip(page, 'info').getAttribute('title')).toMatch(/^\d+ of the loaded records$/)
  })

  it('say from which time on the receiver has counted', async () => {
    const { page, call } = await openPage({ timezoneId: 'UTC' })
    await store({ call }, [Date.UTC(2026, 0, 31), Date.UTC(2026, 2, 31)])
    await page.route('**/counts?*', (route) => answerMore(route, { countedSince: '2026-01-31T12:00:00.000Z' }))
    await page.reload()
    await chart(page, '2 records counted since 2026-01-31 12:00:00.000 UTC').waitFor()
    expect(await chip(page, 'info 2').getAttribute('title')).toBe('2 records since 2026-01-31 12:00:00.000 UTC')
  })

  it('stand over a span of years, and not where a clock is wrong', async () => {
    const { page, call } = await openPage()
    await store({ call }, [Date.UTC(2001, 0, 1), Date.UTC(2026, 0, 31)])
    await store({ call }, [Date.UTC(9999, 0, 1), -1e18, 0])
    await page.reload()
    await chart(page, '5 records, 3 of them before 2000 or in the future').waitFor()
    const years = page.waitForURL(/since=20[12]\d-.*until=202\d-/)
    await dragOver(page, 0.5, 0.99)
    await years
    await chart(page, '1 record').waitFor()
    await page.goto(addressOf(page, 'since=1900-01-01T00:00:00.000Z&until=9999-12-31T00:00:00.000Z'))
    await chart(page, '5 records').waitFor()
  })

  it('stand anywhere where no record has a likely time', async () => {
    const { page, call, problems } = await openPage()
    const longAgo = -1e18
    await store({ call }, [longAgo, longAgo])
    await chart(page, '2 records').waitFor()
    await store({ call }, [Date.now()])
    await chart(page, '3 records, 2 of them before 2000 or in the future').waitFor()
    expect(problems).toEqual([])
  })

  it('stay away where the receiver cannot count, and the list is of use', async () => {
    const { page, call } = await openPage()
    await page.route('**/counts?*', (route) => route.fulfill({ status: 500, json: {} }))
    await store({ call }, [Date.UTC(2026, 0, 31), Date.UTC(2026, 2, 31)])
    await page.reload()
    await rowsAre(page, 2)
    await chart(page, '2 records').waitFor()
    await chip(page, 'info 2').waitFor()
  })
})

describe.skipIf(!canOpenPages)('the list of logs', () => {
  it('asks the receiver for levels, machines, versions and words in one query', async () => {
    const { page, logger } = await openPage()
    const log = logger()
    log.info('GET /health')
    log.info('GET /orders')
    log.warn('GET /orders slow')
    log.error('GET /orders failed')
    log.debug('GET /orders cached')
    await rowsAre(page, 5)
    const asked: URLSearchParams[] = []
    page.on('request', (request) => {
      const url = new URL(request.url())
      if (url.pathname === '/api/logs/demo') asked.push(url.searchParams)
    })
    await searchBox(page).fill('get -health')
    await rowsAre(page, 4)
    await page.getByRole('button', { name: 'error', exact: true }).click()
    await rowsAre(page, 1)
    await page.getByRole('button', { name: 'warn', exact: true }).click()
    await rowsAre(page, 2)
    expect(Object.fromEntries(asked.at(-1)!)).toEqual({
      level: 'error,warn',
      q: 'get -health',
      limit: '500',
    })
    // The box reads the newest records for its completions.
    expect(asked.filter((query) => query.has('q') || query.has('level'))).toHaveLength(3)

    log.error('GET /health failed')
    log.error('GET /orders failed again')
    await rowsAre(page, 3)
    await page.goto(addressOf(page, 'not=level%3Adebug&not=level%3Ainfo&only=machineName%3Anowhere'))
    await page.getByText('No record matches.').waitFor()
    expect(Object.fromEntries(asked.at(-1)!)).toEqual({
      notLevel: 'debug,info',
      q: 'machineName:"nowhere"',
      limit: '500',
    })
  })

  it('shows why nothing matches', async () => {
    const { page, logger } = await openPage()
    logger('shop').info('ready')
    await rowsAre(page, 1)
    await page.goto(addressOf(page, 'only=appName%3Ashp'))
    await page.getByText('no record of bucket demo has appName shp; known: shop').waitFor()
  })

  it('misses nothing where new lines come before a gap is filled', async () => {
    const opened = await openPage()
    const { page, call } = opened
    await store(opened, [Date.now()], 'before')
    await row(page, 'before').waitFor()
    const [stream, reading] = [gate(), gate()]
    let readings = 0
    await page.route('**/api/live?*', async (route) => {
      await stream.opened
      await route.continue()
    })
    await page.route(/\/api\/logs\/demo\?/, async (route) => {
      if (++readings === 2) await reading.opened
      await route.continue()
    })
    await page.reload()
    await rowsAre(page, 1)
    await store({ call }, [Date.now()], 'in the gap')
    stream.open()
    await page.getByText('live', { exact: true }).waitFor()
    await expect.poll(() => readings).toBe(2)
    await store({ call }, [Date.now()], 'after it')
    // The page has it by now.
    await chip(page, 'info 3').waitFor()
    reading.open()
    await row(page, 'after it').waitFor()
    expect(await rows(page).locator('.text').allTextContents()).toEqual(['before', 'in the gap', 'after it'])
  })
})

/** The bars, by their name. */
function chart(page: Page, records: string) {
  return page.getByRole('img', { name: `${records} over time, by level`, exact: true })
}

function chip(page: Page, text: string) {
  return page.locator('.chip', { hasText: text })
}

function addressOf(page: Page, query: string): string {
  return new URL(`#logs?${query}`, page.url()).href
}

async function store({ call }: Pick<OpenPage, 'call'>, times: readonly number[], message = 'hello'): Promise<void> {
  for (const timeStamp of times)
    await call('POST', '/logs/demo', { timeStamp, level: 'info', message, appName: 'shop' })
}

/** The receiver's answer with further fields. */
async function answerMore(route: Route, fields: object): Promise<void> {
  const response = await route.fetch()
  await route.fulfill({ response, json: { ...(await response.json()), ...fields } })
}

/** Something that waits until it is opened. */
function gate() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

async function dragOver(page: Page, from: number, to: number): Promise<void> {
  const bars = (await page.locator('.histogram .plot').boundingBox())!
  await page.mouse.move(bars.x + bars.width * from, bars.y + 10)
  await page.mouse.down()
  await page.mouse.move(bars.x + bars.width * to, bars.y + 10, { steps: 5 })
  await page.mouse.up()
}
