import axe, { type AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import { createSluice } from 'sluice'
import { describe, expect, it } from 'vitest'
import { rowsOf } from '../../../../test/support/full.js'
import { article } from '../support.js'
import { canOpenPages, openPage, row, searchBox, useBrowser } from './support.js'

useBrowser()

describe.skipIf(!canOpenPages)('the page for all people', () => {
  it.each(rowsOf(['light', 'dark'] as const, (scheme) => scheme === 'light'))(
    'has no serious fault of accessibility in any view, %s',
    async (colorScheme) => {
      const { page, logger, call, url, apiKey } = await openPage({ colorScheme })
      expect(await seriousFaults(page), 'Logs, empty').toEqual([])
      const log = logger()
      for (const level of ['fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const) {
        log[level]({ err: new Error('card declined'), orderId: 7 }, `a line of ${level}`)
      }
      const sluice = createSluice({ url, apiKey, bucket: 'demo', appName: 'shop' })
      sluice.track(1001)
      sluice.track(1002)
      await sluice.close()
      await call('POST', '/logs/demo', { timeStamp: 1, message: 'no level', appName: 'shop' })
      await call('POST', '/api/projects/demo/content-types', article)
      await call('POST', '/ng-cms/content/demo/article', { fields: { title: 'Sale', body: '<p>all</p>' } })

      for (const level of ['fatal', 'trace']) await row(page, `a line of ${level}`).waitFor()
      expect(await seriousFaults(page), 'Logs').toEqual([])
      await page.getByText('View', { exact: true }).click()
      expect(await seriousFaults(page), 'Logs, menu').toEqual([])
      await page.getByText('View', { exact: true }).click()
      await row(page, 'a line of error').click()
      await page.getByRole('complementary').getByText('Error: card declined').waitFor()
      expect(await seriousFaults(page), 'Logs, details').toEqual([])

      for (const [view, shown] of [
        ['Errors', '[data-error]'],
        ['Values', '[data-event="1002"]'],
        ['Account', 'tbody tr'],
        ['Rejected', '[data-status]'],
        ['Content', '.entries summary'],
      ] as const) {
        await page.getByRole('link', { name: view, exact: true }).click()
        await page.locator(shown).first().waitFor()
        expect(await seriousFaults(page), view).toEqual([])
      }
      await page.goto(new URL('#values?event=1001', page.url()).href)
      await page.locator('[data-value]').waitFor()
      expect(await seriousFaults(page), 'Values, one event').toEqual([])
      await page.goto(new URL('#logs?text=lin', page.url()).href)
      await page.getByText('Search takes whole words').waitFor()
      expect(await seriousFaults(page), 'Logs, nothing found').toEqual([])
      await searchBox(page).fill('level:')
      const completions = page.getByRole('listbox', { name: 'Completions' })
      await completions.getByText('fatal').waitFor()
      await page.keyboard.press('ArrowDown')
      await completions.getByRole('option', { selected: true }).waitFor()
      expect(await seriousFaults(page), 'Logs, completion').toEqual([])
      await page.keyboard.press('Escape')
      await page.getByText('expected a value after "level:" at 7').waitFor()
      expect(await seriousFaults(page), 'Logs, wrong search').toEqual([])
      await page.getByText('Filters', { exact: true }).click()
      expect(await seriousFaults(page), 'Logs, filters').toEqual([])
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.getByLabel('API key').fill('slk_wrong')
      await page.keyboard.press('Enter')
      await page.getByRole('alert').waitFor()
      expect(await seriousFaults(page), 'Sign in').toEqual([])
    },
  )
})

/** The faults that axe calls serious or critical: rule and element. */
async function seriousFaults(page: Page): Promise<string[]> {
  // The policy of the page lets no script in; the browser's own protocol does.
  await page.evaluate(axe.source)
  const { violations } = (await page.evaluate('axe.run()')) as AxeResults
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`))
}
