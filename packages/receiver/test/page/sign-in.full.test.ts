import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { canOpenPages, openPage, rowsAre, useBrowser } from './support.js'

useBrowser()

/** A receiver with a line, and another browser that has no session. */
async function openOther(viewport = { width: 1280, height: 800 }) {
  const opened = await openPage()
  opened.logger().warn('late')
  await rowsAre(opened.page, 1)
  const context = await opened.page.context().browser()!.newContext({ viewport })
  onTestFinished(() => context.close())
  const other = await context.newPage()
  other.setDefaultTimeout(30_000)
  return { ...opened, other }
}

async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key)
  await page.keyboard.press('Enter')
}

describe.skipIf(!canOpenPages)('signing in', () => {
  it('with a key shows the view of the address, after a wrong one said so', async () => {
    const { url, apiKey, call, other } = await openOther()
    await other.goto(`${url}/#logs?level=warn&utc=1`)
    expect(await other.evaluate('document.activeElement.name')).toBe('key')
    await signIn(other, 'slk_wrong')
    await other.getByRole('alert').getByText('The receiver does not know this key.').waitFor()
    const { body } = await call('POST', '/api/keys', { scopes: ['ingest'] })
    await signIn(other, body.key)
    await other.getByRole('alert').getByText('lacks the scope read').waitFor()
    expect(other.url()).toBe(`${url}/#logs?level=warn&utc=1`)
    await signIn(other, apiKey)
    await rowsAre(other, 1)
    expect(other.url()).toBe(`${url}/#logs?level=warn&utc=1`)
    expect((await other.context().cookies()).map(({ httpOnly, sameSite }) => [httpOnly, sameSite])).toEqual([
      [true, 'Strict'],
    ])
  })

  it('ends with "Sign out", in each tab, and not for others', async () => {
    const { url, apiKey, page, other } = await openOther()
    await other.goto(url)
    await signIn(other, apiKey)
    await rowsAre(other, 1)
    const tab = await other.context().newPage()
    await tab.goto(url)
    await rowsAre(tab, 1)
    await other.getByRole('button', { name: 'Sign out' }).click()
    await other.getByLabel('API key').waitFor()
    await tab.getByRole('button', { name: 'Sign in' }).click()
    await signIn(tab, apiKey)
    await rowsAre(tab, 1)
    await page.reload()
    await rowsAre(page, 1)
  })

  it('has its place on a narrow screen, and so has the page after it', async () => {
    const { url, apiKey, call, other } = await openOther({ width: 320, height: 640 })
    await call('POST', '/api/projects', { id: 'another-project' })
    const excess = () => other.evaluate('document.documentElement.scrollWidth - innerWidth')
    await other.goto(url)
    await signIn(other, 'slk_wrong')
    await other.getByRole('alert').waitFor()
    expect(await excess()).toBe(0)
    await signIn(other, apiKey)
    await rowsAre(other, 1)
    expect(await excess()).toBe(0)
  })

  it('with a key that only reads does the rest not, and says why', async () => {
    const { url, call, other } = await openOther()
    const { body } = await call('POST', '/api/keys', { scopes: ['read'] })
    await call('POST', '/api/projects', { id: 'empty' })
    await other.goto(`${url}/#logs?bucket=empty`)
    await signIn(other, body.key)
    await other.getByRole('button', { name: 'Send a test record' }).click()
    await other.getByText('the API key lacks the scope ingest; it has read').waitFor()
    await call('DELETE', `/api/keys/${body.id}`)
    await other.getByText('The session of this page is over.').waitFor()
  })
})
