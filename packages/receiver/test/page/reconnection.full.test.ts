import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { full } from '../../../../test/support/full.js'
import { Relay } from '../postgres/relay.js'
import { canOpenPages, openPage, rows, rowsAre, useBrowser } from './support.js'

useBrowser()

describe.skipIf(!canOpenPages)('the page of a receiver that restarts', () => {
  it('shows every line once, also those that arrive before it is back', async () => {
    const data = await mkdtemp(join(tmpdir(), 'receiver-test-'))
    // After the receiver has stopped, which is registered later.
    onTestFinished(() => rm(data, { recursive: true }))
    const { page, logger, restart, call } = await openPage({ data })
    const log = logger()
    for (let number = 1; number <= 5; number++) log.info(`line ${number}.`)
    await rowsAre(page, 5)
    await restart()
    const line = (number: number) => ({
      timeStamp: Date.now(),
      level: 'info',
      message: `line ${number}.`,
      appName: 'shop',
    })
    for (let number = 6; number <= 10; number++) await call('POST', '/logs/demo', line(number))
    await rowsAre(page, 10)
    await call('POST', '/logs/demo', line(11))
    await rowsAre(page, 11)
    const texts = await rows(page).locator('.text').allTextContents()
    // Lines of the same millisecond may stand in any order.
    const numbers = texts.map((text) => Number(/^line (\d+)\.$/.exec(text)?.[1]))
    expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 11 }, (_, index) => index + 1))
  })

  it('notices a network that was lost in silence, and comes back', async () => {
    const { url, page, call } = await openPage()
    const relay = await Relay.start(Number(new URL(url).port))
    onTestFinished(() => relay.close())
    await page.clock.install()
    await page.goto(`http://127.0.0.1:${relay.port}/`)
    const place = await page.getByText('live', { exact: true }).boundingBox()
    relay.isSilent = true
    await call('POST', '/logs/demo', { timeStamp: Date.now(), level: 'info', message: 'unheard', appName: 'shop' })
    await page.clock.fastForward(60_000)
    const connection = page.getByText('reconnecting', { exact: true })
    await connection.waitFor()
    // In the place of "live", where people look.
    expect((await connection.boundingBox())!.y).toBe(place!.y)
    relay.isSilent = false
    await page.clock.fastForward(60_000)
    await page.getByText('live', { exact: true }).waitFor()
    await rowsAre(page, 1)
  })

  it.runIf(full)('misses nothing and shows nothing twice when it is loaded again in mid-stream', async () => {
    const { page, logger } = await openPage()
    const log = logger()
    let sent = 0
    // No more than a page loads at once: older ones come as a person scrolls up.
    const sending = setInterval(() => {
      if (sent < 150) log.info(`line ${++sent}.`)
    }, 5)
    try {
      await expect.poll(() => rows(page).count()).toBeGreaterThan(3)
      for (let time = 0; time < 3; time++) await page.reload()
      await rows(page).first().waitFor()
    } finally {
      clearInterval(sending)
    }
    await rows(page)
      .last()
      .filter({ hasText: `line ${sent}.` })
      .waitFor()
    // Requests overtake each other: the last line may come before others.
    const shown = async () => Number(await page.getByRole('table').getAttribute('aria-rowcount'))
    await expect.poll(shown, { timeout: 10_000 }).toBe(sent)
  })
})
