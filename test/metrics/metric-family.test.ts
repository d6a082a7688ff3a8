import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { familyText } from '../../src/metrics/metric-family.js'
import { parsePrometheusText } from '../support/prometheus-text.js'

const labelName = fc.stringMatching(/^[a-zA-Z_][a-zA-Z0-9_]*$/).filter((name) => name !== '__proto__')

describe('a metric as text', () => {
  it('is read again as it was, with any text in its labels', () => {
    const labels = fc.dictionary(labelName, fc.string({ unit: 'binary' }), { minKeys: 1 })
    fc.assert(
      fc.property(labels, fc.double({ noNaN: true, noDefaultInfinity: true, min: 0 }), (labels, value) => {
        const family = {
          name: 'sluice_some_total',
          type: 'counter',
          help: 'Some.',
          samples: [{ labels, value }],
        } as const
        const [parsed] = parsePrometheusText(familyText(family))
        expect(parsed).toEqual({ ...family, samples: [{ name: family.name, labels: { ...labels }, value }] })
      }),
    )
  })

  it('escapes quotes, backslashes and line feeds', () => {
    const samples = [{ labels: { bucket: 'a"b\\c\nd' }, value: 1 }, { value: 2 }]
    expect(familyText({ name: 'sluice_some', type: 'gauge', help: 'Some.', samples })).toBe(
      String.raw`# HELP sluice_some Some.
# TYPE sluice_some gauge
sluice_some{bucket="a\"b\\c\nd"} 1
sluice_some 2
`,
    )
  })

  it('is empty without samples', () => {
    expect(familyText({ name: 'sluice_some', type: 'gauge', help: 'Some.', samples: [] })).toBe('')
  })
})
