import { existsSync } from 'node:fs'
import pino, { type Logger } from 'pino'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { sluicePino } from 'sluice/pino'
import { type ReceiverOptions, startReceiver } from 'sluice-receiver'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { caller } from '../support.js'

const executablePath = '/usr/bin/chromium'
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** A text with markup, an escape sequence and a sign that turns the text around. */
export const hostile =
  '<script>document.title="taken"</script><img src=x onerror="document.title=\'taken\'"> \u001b[31mred \u202egnp.exe'
/** The same as the page shows it. */
export const shown =
  '<script>document.title="taken"</script><img src=x onerror="document.title=\'taken\'"> ⟦ESC⟧[31mred ⟦U+202E⟧gnp.exe'

/** True when there is a browser for the page. Otherwise a message says that the tests of the page are skipped. */
export const canOpenPages = existsSync(executablePath)
if (!canOpenPages) {
  process.stderr.write('\nchromium is not installed (apt-get install chromium): THE TESTS OF THE PAGE ARE SKIPPED\n\n')
}

let browser: Browser

/** Starts one browser for all tests of a file. */
export function useBrowser(more: readonly string[] = []): void {
  beforeAll(async () => {
    if (canOpenPages) browser = await chromium.launch({ executablePath, args: [...args, ...more] })
  })
  afterAll(() => browser?.close())
}

export interface OpenPage {
  readonly url: string
  readonly page: Page
  readonly apiKey: string
  /** Problems that the page has written to its console, and errors that nothing has caught. */
  readonly problems: string[]
  readonly call: ReturnType<typeof caller>
  /** A real logger that writes to the receiver. */
  logger(name?: string): Logger
  /** Stops the receiver and starts it again with the same data. */
  restart(): Promise<void>
}

/** A receiver, and its page in a browser. */
export async function openPage(options: ReceiverOptions & BrowserContextOptions = {}): Promise<OpenPage> {
  const { data = ':memory:', database, events, ...contextOptions } = options
  let receiver = await startReceiver({ port: 0, data, database, events })
  onTestFinished(() => receiver.close())
  const { url } = receiver
  const apiKey = receiver.apiKey!
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...contextOptions })
  onTestFinished(() => context.close())
  const page = await context.newPage()
  page.setDefaultTimeout(30_000)
  const problems: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(String(error)))
  await page.goto(receiver.page)
  await page.getByText('live', { exact: true }).waitFor()
  return {
    url,
    page,
    apiKey,
    problems,
    call: caller(receiver),
    logger(name = 'shop') {
      const stream = sluicePino({ url, apiKey, bucket: 'demo', appName: name, env: 'test' })
      onTestFinished(() => void stream.end())
      return pino({ level: 'trace' }, stream)
    },
    async restart() {
      await receiver.close()
      receiver = await startReceiver({ port: Number(new URL(url).port), data, database, events })
    },
  }
}

/** The box with the search of a view. */
export function searchBox(page: Page) {
  return page.getByRole('combobox', { name: 'Search' })
}

/** The rows of the table that are in the document. */
export function rows(page: Page) {
  return page.getByRole('table', { name: 'Logs' }).locator('[role=row][data-id]')
}

/** The row with this text. */
export function row(page: Page, text: string) {
  return rows(page).filter({ hasText: text })
}

/** Waits until the last row has this text. Lines of the same millisecond may arrive in any order. */
export async function lastRowIs(page: Page, text: string): Promise<void> {
  await rows(page).last().filter({ hasText: text }).waitFor()
}

/** Waits until the list has this many rows, in the document or not. */
export async function listHas(page: Page, count: number): Promise<void> {
  await page.locator(`[role=table][aria-rowcount="${count}"]`).waitFor()
}

/** Waits until the document has this many rows. */
export async function rowsAre(page: Page, count: number): Promise<void> {
  await expect.poll(() => rows(page).count()).toBe(count)
}

/** The distance of the table's window from its end, in pixels. */
export function distanceFromEnd(page: Page): Promise<number> {
  return page.locator('.viewport').evaluate((each) => each.scrollHeight - each.clientHeight - each.scrollTop)
}
