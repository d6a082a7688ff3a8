import { writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { dataFolder } from '../data-folder.js'
import { article } from '../support.js'
import { canOpenPages, hostile, openPage, rows, shown, useBrowser } from './support.js'

useBrowser()
const folder = dataFolder()

describe.skipIf(!canOpenPages)('the page of hostile senders', () => {
  it('shows markup, escape sequences and signs that turn the text around as text, in every view', async () => {
    const events = folder.file('events.json')
    await writeFile(events, JSON.stringify({ [hostile]: 1001 }))
    const { page, call, problems } = await openPage({ events })
    const message = `sluice: 7 log records lost from ${hostile.replaceAll(' ', '')} to now (${hostile.replace(/[()]/g, '')})`
    await call('POST', '/value_tracking/demo', { timeStamp: Date.now(), eventId: 1001, appName: hostile, env: hostile })
    await call('POST', '/logs/demo', { timeStamp: Date.now(), level: 'warn', message, appName: hostile })
    await call('POST', '/logs/demo', { [hostile]: hostile, appName: hostile })
    await call('POST', '/api/projects/demo/content-types', {
      ...article,
      ...{ name: hostile, description: hostile },
      schema: article.schema.map((field) => ({ ...field, label: hostile, maxLength: 1000 })),
    })
    await call('POST', '/ng-cms/content/demo/article', { fields: { title: hostile, summary: hostile } })
    await rows(page).first().waitFor()
    await page.getByText('View', { exact: true }).click()
    // The receiver takes no control characters in the name of a view.
    await page.getByLabel('Name of this view').fill(hostile.replaceAll(/\p{Cc}/gu, ''))
    await page.keyboard.press('Enter')
    for (const view of ['Logs', 'Values', 'Account', 'Rejected', 'Content']) {
      await page.getByRole('link', { name: view, exact: true }).click()
      await page.getByText(shown).first().waitFor()
      for (const summary of await page.locator('main details:not(.menu) > summary').all()) await summary.click()
      expect(await page.title()).toBe(`${view} · Sluice receiver`)
      expect(await page.locator('body script, img').count()).toBe(0)
      const text = await page.locator('body').textContent()
      for (const sign of ['\u001b', '\u202e']) expect(text, view).not.toContain(sign)
    }
    expect(problems).toEqual([])
  })
})
