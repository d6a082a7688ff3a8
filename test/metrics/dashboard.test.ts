import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { createSluice } from 'sluice'
import { prometheusText } from 'sluice/metrics'
import { describe, expect, it } from 'vitest'
import { parsePrometheusText } from '../support/prometheus-text.js'
import { grafanaSchema } from './grafana-schema.js'

interface Panel {
  readonly id: number
  readonly title: string
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number }
  readonly targets: readonly { readonly refId: string; readonly expr: string; readonly legendFormat: string }[]
}
interface Dashboard {
  readonly panels: readonly Panel[]
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly query: string | { query: string } }[]
  }
}

const dashboard: Dashboard = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../packages/receiver/deploy/grafana-dashboard.json'), 'utf8'),
)
const queries = dashboard.templating.list.map(({ query }) => (typeof query === 'string' ? query : query.query))
const targets = dashboard.panels.flatMap((panel) => panel.targets)
const expressions = [...targets.map(({ expr }) => expr), ...queries]
const metricsOf = (expression: string) => expression.match(/\bsluice_\w+/g) ?? []

const sluice = createSluice({ url: 'http://127.0.0.1:1', apiKey: 'k', bucket: 'b' })
const metrics = new Map(parsePrometheusText(prometheusText()).map((metric) => [metric.name, metric]))
await sluice.close({ timeoutMs: 0 })

describe('the dashboard for Grafana', () => {
  it('is a dashboard by its schema', () => {
    const validate = new Ajv({ allErrors: true }).compile(grafanaSchema)
    validate(dashboard)
    expect(validate.errors ?? []).toEqual([])
  })

  it('has panels with numbers of their own, beside each other', () => {
    const { panels } = dashboard
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    for (const { title, gridPos: a } of panels) {
      expect(a.x + a.w, title).toBeLessThanOrEqual(24)
      const over = panels.filter(
        ({ gridPos: b }) => a !== b && a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h,
      )
      expect(over.map((panel) => panel.title)).toEqual([])
    }
    for (const { targets } of panels) expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length)
  })

  it('asks for metrics that the text for Prometheus has', () => {
    const names = [...new Set(expressions.flatMap(metricsOf))]
    expect(names.length).toBeGreaterThan(10)
    expect(names.filter((name) => !metrics.has(name))).toEqual([])
  })

  it('takes the rate of counters, and of nothing else', () => {
    for (const { expr } of targets) {
      const rated = [...expr.matchAll(/rate\((sluice_\w+)/g)].map(([, name]) => name)
      const counters = metricsOf(expr).filter((name) => metrics.get(name)?.type === 'counter')
      expect(rated, expr).toEqual(counters)
    }
  })

  it('chooses and groups by labels that its metrics have, with values that these may have', () => {
    const own = ['job', 'instance']
    for (const { expr, legendFormat } of targets) {
      for (const [, name = '', matchers = ''] of expr.matchAll(/(sluice_\w+)\{([^}]*)\}/g)) {
        const samples = metrics.get(name)?.samples ?? []
        const labels = new Set([...own, ...samples.flatMap((sample) => Object.keys(sample.labels))])
        const grouped = expr.match(/by \(([^)]*)\)/)?.[1]?.split(', ') ?? []
        const shown = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label)
        expect(shown.filter((label) => !grouped.includes(label))).toEqual([])
        for (const label of grouped) expect([...labels], expr).toContain(label)
        for (const [, label = '', operator, value] of matchers.matchAll(/(\w+)(=~?)"([^"]*)"/g)) {
          expect([...labels], expr).toContain(label)
          if (operator === '=') expect(samples.map((sample) => sample.labels[label])).toContain(value)
        }
      }
    }
  })

  it('shows every metric that an account needs', () => {
    const names = ['accepted', 'delivered', 'rejected', 'dropped'].map((head) => `sluice_records_${head}_total`)
    const others = ['sluice_queue_records', 'sluice_queue_bytes', 'sluice_in_flight_records', 'sluice_lane_state']
    const shown = expressions.flatMap(metricsOf)
    for (const name of [...names, ...others, 'sluice_retries_total', 'sluice_health']) expect(shown).toContain(name)
  })
})
