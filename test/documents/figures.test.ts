import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readMarkdown, root } from './markdown.js'

/** Figures of each row of a scenario of RESULTS.md, by the name of the row. A dash is no number. @param from where its table begins, of several */
function resultsOf(scenario: string, from = ''): Readonly<Record<string, readonly number[]>> {
  const text = readFileSync(join(root, 'benchmarks/RESULTS.md'), 'utf8')
  const tables = text.split(`## ${scenario}\n`)[1]?.split('```')[1] ?? ''
  const table = from === '' ? tables : (tables.split(`  ${from} `)[1]?.split('records/s')[0] ?? '')
  const rows = [...table.matchAll(/^ {2}(\S.*?)((?: {2,}[\d.–]+)+)(?: {2}.*)?$/gm)]
  return Object.fromEntries(
    rows.map(([, name = '', figures = '']) => [name.trim(), figures.trim().split(/\s+/).map(Number)]),
  )
}

const products: Readonly<Record<string, string>> = { Segment: '@segment/analytics-node', PostHog: 'posthog-node' }

/** The name in RESULTS.md for a row of a document, without a remark in brackets. */
function resultName(label: string): string {
  const plain = label
    .replace(' (as it comes)', '')
    .replaceAll('`', '')
    .replace('Sluice, ', 'Sluice: ')
    .replace('sluicePino()', 'sluicePino')
    .replace('not pipelined', 'pipelining off')
  const [product = '', ...rest] = plain.split(',')
  return [products[product] ?? product, ...rest].join(',')
}

const rows = readMarkdown('docs/comparison.md').rows['beside-others'] ?? []
/** The short table: CPU and memory of the burst, and the losses of the same contestant with default settings. */
const short = readMarkdown('README.md').rows['beside-others'] ?? []
const numbers = (cell: string) => [...cell.replaceAll(',', '').matchAll(/\d+(\.\d+)?/g)].map(([each]) => Number(each))
const farServer = rows.filter(([label = '']) => /^(not )?pipelined$/.test(label))
const isLosses = (cells: readonly string[]) => /^(the same|nothing|.*(records|calls in 5 s))$/.test(cells[4] ?? '')
const losses = rows.filter(isLosses)
const rivals = rows.filter((cells) => cells.length === 5 && !isLosses(cells))
/** As the documents show a figure: two digits at least. */
const shown = (figure: number) => (figure < 10 ? figure : Math.round(figure))

const everydayRows = readMarkdown('docs/comparison.md').rows['at-everyday-rates'] ?? []
const everyday = (perSecond: number) => resultsOf('delivery/everyday', `${perSecond} records/s`)

describe('the figures in the documents are those of RESULTS.md', () => {
  const results = resultsOf('delivery/rivals')

  it('as many as there are', () => {
    expect([rivals.length, farServer.length, losses.length, short.length]).toEqual([16, 2, 12, 13])
  })

  it.each(rivals)('what each costs: %s', (label = '', cpu = '', beyond = '', peak = '', lost = '') => {
    const name = resultName(label)
    const names = label.includes('(as it comes)') ? [name, name.replace(', tuned', '')] : [name]
    const figures = (column: number) =>
      names.map((each) => results[each]?.[column] ?? Number.NaN).filter((figure) => !Number.isNaN(figure))
    expect(figures(1)).toHaveLength(names.length)
    expect(numbers(cpu)).toEqual(figures(1).map(shown))
    expect(numbers(beyond)).toEqual(figures(2).map(shown))
    expect(numbers(peak)).toEqual(figures(5))
    expect(numbers(lost)).toEqual([...new Set(figures(6))])
  })

  it.each(farServer)('records/s to a far server: %s', (label = '', ...cells) => {
    const name = `Sluice: pino target${label === 'pipelined' ? '' : ', pipelining off'}`
    expect(cells.flatMap(numbers)).toEqual(resultsOf('delivery/far-server')[name])
  })

  it.each(short)('in the README: %s', (label = '', cpu = '', steady = '', peak = '', ...lost) => {
    const name = resultName(label)
    expect([numbers(cpu), numbers(peak)]).toEqual([[shown(results[name]![1]!)], [results[name]![5]]])
    const [atSteadyRate = Number.NaN] = everyday(100)[name.replace(', tuned', '')] ?? []
    expect(numbers(steady)).toEqual(Number.isNaN(atSteadyRate) ? [] : [atSteadyRate])
    const loser = name.replace(', tuned', '').replace(', pipelining off', '')
    const inLosses = loser === 'Sluice: pino target' ? `${loser}, --import sluice/register` : loser
    expect(lost.flatMap(numbers)).toEqual(resultsOf('delivery/losses')[inLosses])
  })

  it.each(everydayRows)('at everyday rates: %s', (label = '', ...cells) => {
    const name = resultName(label)
    const of = (perSecond: number) => everyday(perSecond)[name] ?? []
    const [cpuAt10 = Number.NaN] = of(10)
    const [cpuAt100 = Number.NaN, wakes = Number.NaN, , , delay = Number.NaN, late = Number.NaN] = of(100)
    const [cpuAt1000 = Number.NaN, , call = Number.NaN] = of(1000)
    const expected = [cpuAt10, cpuAt100, cpuAt1000, wakes, call, delay, late].filter((each) => !Number.isNaN(each))
    expect(cells.flatMap(numbers)).toEqual(expected.map((each) => (each < 10 ? each : Math.round(each))))
  })

  it.each(losses)('what each loses: %s', (label = '', ...cells) => {
    const several = /^Sluice, `sluicePino\(\)`, winston, `track`$/.test(label)
    const names = several ? ['Sluice: sluicePino', 'Sluice: winston', 'Sluice: track'] : [resultName(label)]
    for (const name of names) {
      expect(cells.slice(0, 3).flatMap(numbers)).toEqual(resultsOf('delivery/losses')[name])
    }
  })
})
