import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { canOpenPages, type OpenPage, openPage, rowsAre, useBrowser } from './support.js'

useBrowser()

const minuteMs = 60_000

describe.skipIf(!canOpenPages)('the bars of a chart', () => {
  it('are as wide as their step, and the last is drawn to now only', async () => {
    const { page, call } = await openPage()
    const now = Date.now()
    const thisMinute = Math.floor(now / minuteMs) * minuteMs
    // In its first seconds a minute has hardly a bar, and near its end it is nearly whole: the clock of the page stands between.
    await page.clock.setFixedTime(thisMinute + 15_000)
    for (let minute = 0; minute < 60; minute++) await track(call, thisMinute - minute * minuteMs, 1001)
    await page.getByRole('link', { name: 'Values' }).click()
    await page.locator('[data-event="1001"]').getByText('60', { exact: true }).first().waitFor()
    const bars = await barsOf(page.locator('.card'))
    const plot = (await page.locator('.card .plot').boundingBox())!
    const minuteWidth = plot.width / 59.25
    expect(bars).toHaveLength(60)
    for (const [index, { left, width }] of bars.slice(0, -1).entries()) {
      expect(Math.abs(left - plot.x - index * minuteWidth)).toBeLessThanOrEqual(1)
      // A pixel stays free between two bars, and bars begin at whole pixels.
      expect(Math.abs(width + 1 - minuteWidth)).toBeLessThanOrEqual(1)
    }
    const last = bars.at(-1)!
    expect(Math.abs(last.width + 1 - minuteWidth / 4)).toBeLessThanOrEqual(1)
    expect(last.left + last.width).toBeLessThanOrEqual(plot.x + plot.width)
  })

  it('are chosen by a drag, whose mark goes when the chart shows only these times', async () => {
    const { page, call } = await openPage()
    for (let minute = 0; minute < 10; minute++) await log(call, Date.UTC(2026, 0, 31, 20, minute))
    await rowsAre(page, 10)
    await page.reload()
    const plot = (await page.locator('.histogram .plot').boundingBox())!
    const mark = page.locator('.histogram .selected')
    await page.mouse.move(plot.x + plot.width * 0.45, plot.y + 10)
    await page.mouse.down()
    await page.mouse.move(plot.x + plot.width * 0.85, plot.y + 10, { steps: 5 })
    const marked = (await mark.boundingBox())!
    expect(marked.x - plot.x).toBeCloseTo(plot.width * 0.45, -1)
    expect(marked.width).toBeCloseTo(plot.width * 0.4, -1)
    await page.mouse.up()
    await rowsAre(page, 3)
    await mark.waitFor({ state: 'detached' })
    await page.getByLabel('Time range').selectOption('All time')
    await rowsAre(page, 10)
    expect(await mark.count()).toBe(0)
  })

  it('keep the mark of a drag on its times while the chart moves on', async () => {
    const { page, call } = await openPage()
    const now = Date.now()
    await log(call, now - 60_000)
    await log(call, now - 30_000)
    await rowsAre(page, 2)
    const plot = (await page.locator('.histogram .plot').boundingBox())!
    const mark = page.locator('.histogram .selected')
    await page.mouse.move(plot.x + plot.width * 0.5, plot.y + 10)
    await page.mouse.down()
    await page.mouse.move(plot.x + plot.width, plot.y + 10, { steps: 5 })
    const before = (await mark.boundingBox())!
    // Ten minutes on: what was marked is now a small part of the chart.
    await log(call, now + 10 * minuteMs)
    await expect.poll(async () => (await mark.boundingBox())!.width).toBeLessThan(before.width / 4)
    expect((await mark.boundingBox())!.x).toBeLessThan(before.x)
  })
})

describe.skipIf(!canOpenPages)('the labels of a chart', () => {
  it.each([
    ['seconds', 30_000],
    ['minutes', 35 * minuteMs],
    ['hours', 20 * 60 * minuteMs],
    ['days', 20 * 1440 * minuteMs],
    ['months', 300 * 1440 * minuteMs],
    ['years', 20 * 365 * 1440 * minuteMs],
  ] as const)('stand apart and within the page at any width, over %s', async (_name, spanMs) => {
    const { page, call } = await openPage({ timezoneId: 'Europe/Berlin' })
    const now = Date.now()
    for (let part = 0; part <= 4; part++) {
      await log(call, now - (spanMs * part) / 4)
      await track(call, now - (spanMs * part) / 4, 1001)
    }
    await rowsAre(page, 5)
    const since = new Date(now - spanMs).toISOString()
    for (const [view, chart] of [
      ['logs', '.histogram'],
      ['values', '.card'],
    ] as const) {
      await page.goto(new URL(`#${view}?since=${since}`, page.url()).href)
      await page.locator(`${chart} text.time`).first().waitFor()
      for (const width of [360, 400, 517, 640, 861, 1280, 1900]) {
        await page.setViewportSize({ width, height: 700 })
        await expect
          .poll(() =>
            page.evaluate(
              `document.querySelector('${chart} svg')?.clientWidth === document.querySelector('${chart} .chart')?.clientWidth`,
            ),
          )
          .toBe(true)
        const labels = await boxesOf(page, `${chart} text.time`)
        expect(labels.length, `${view}, ${width}`).toBeGreaterThan(0)
        for (const [index, { left, right }] of labels.entries()) {
          expect(left, `${view}, ${width}`).toBeGreaterThanOrEqual(index === 0 ? 0 : labels[index - 1]!.right + 2)
          expect(right, `${view}, ${width}`).toBeLessThanOrEqual(width)
        }
        expect(await page.evaluate('document.querySelector("main").scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
      }
    }
  })

  it('of counts are short, and are not cut', async () => {
    const { page, call } = await openPage({ viewport: { width: 360, height: 700 } })
    await track(call, Date.now(), 1001)
    await page.route('**/api/values/demo/counts?*', async (route) => {
      const response = await route.fetch()
      const answer = await response.json()
      for (const { counts } of answer.list ?? []) counts[1001] = 12_345_678
      await route.fulfill({ response, json: answer })
    })
    await page.getByRole('link', { name: 'Values' }).click()
    await page.locator('.card text', { hasText: /^10M$/ }).waitFor()
    const card = (await page.locator('.card').boundingBox())!
    for (const { left } of await boxesOf(page, '.card text')) expect(left).toBeGreaterThan(card.x)
  })
})

type Call = OpenPage['call']

function log(call: Call, timeStamp: number) {
  return call('POST', '/logs/demo', { timeStamp, level: 'info', message: 'hello', appName: 'shop' })
}

function track(call: Call, timeStamp: number, eventId: number) {
  return call('POST', '/value_tracking/demo', { timeStamp, eventId, appName: 'shop' })
}

/** The places of the bars, from their path. */
async function barsOf(card: ReturnType<Page['locator']>) {
  const { x } = (await card.locator('svg').boundingBox())!
  const path = (await card.locator('.bars').first().getAttribute('d'))!
  return [...path.matchAll(/M([\d.]+) [^h]*h([\d.]+)/g)].map(([, left, width]) => ({
    left: x + Number(left),
    width: Number(width),
  }))
}

function boxesOf(page: Page, selector: string): Promise<{ left: number; right: number }[]> {
  return page.evaluate(
    `[...document.querySelectorAll('${selector}')].map((label) => label.getBoundingClientRect().toJSON())`,
  )
}
