/** A sample of Prometheus's text format. */
export interface ParsedSample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** A metric of Prometheus's text format, with its samples. */
export interface ParsedMetric {
  readonly name: string
  readonly help: string
  readonly type: string
  readonly samples: readonly ParsedSample[]
}

const metricName = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const label = String.raw`[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"`
const helpLine = new RegExp(String.raw`^# HELP (${metricName}) ((?:[^\\\n]|\\[\\n])*)$`)
const typeLine = new RegExp(`^# TYPE (${metricName}) (counter|gauge|histogram|summary|untyped)$`)
const sampleLine = new RegExp(
  String.raw`^(${metricName})(?:\{(${label}(?:,${label})*)\})? ([+-]?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Inf|NaN))$`,
)

/**
 * Reads Prometheus's text format, version 0.0.4, strictly by its description: each metric has one HELP line, one TYPE line, then its
 * samples in one group, each with other labels than the rest, and the last line ends with a line feed.
 *
 * @throws {Error} for anything else
 */
export function parsePrometheusText(text: string): ParsedMetric[] {
  if (!text.endsWith('\n')) throw new Error('the last line has no end')
  const metrics: (ParsedMetric & { samples: ParsedSample[] })[] = []
  const lines = text.split('\n').slice(0, -1)
  for (let at = 0; at < lines.length; ) {
    const [, name = '', help = ''] = matched(helpLine, lines[at++])
    const [, typed, type = ''] = matched(typeLine, lines[at++])
    if (typed !== name || metrics.some((metric) => metric.name === name)) throw new Error(`${name} is not in one group`)
    const samples: ParsedSample[] = []
    const seen = new Set<string>()
    for (; at < lines.length && !lines[at]!.startsWith('#'); at++) {
      const sample = sampleOf(lines[at]!)
      const identity = JSON.stringify([sample.name, ...Object.entries(sample.labels).sort()])
      if (!isOf(sample.name, { name, type }) || seen.has(identity)) throw new Error(`wrong place: ${lines[at]}`)
      seen.add(identity)
      samples.push(sample)
    }
    metrics.push({ name, help, type, samples })
  }
  return metrics
}

/** All samples by their name and labels, as they are written. */
export function samplesByName(text: string): ReadonlyMap<string, number> {
  const samples = parsePrometheusText(text).flatMap((metric) => metric.samples)
  return new Map(samples.map(({ name, labels, value }) => [`${name} ${Object.values(labels).join(' ')}`.trim(), value]))
}

function sampleOf(line: string): ParsedSample {
  const [, name = '', labelText = '', value = ''] = matched(sampleLine, line)
  const pairs = [...labelText.matchAll(new RegExp(label, 'g'))].map(([pair]) => {
    const equals = pair.indexOf('=')
    const escaped = pair.slice(equals + 2, -1)
    const text = escaped.replaceAll(/\\(.)/g, (_, char: string) => (char === 'n' ? '\n' : char))
    return [pair.slice(0, equals), text] as const
  })
  const labels = Object.fromEntries(pairs)
  if (Object.keys(labels).length !== pairs.length) throw new Error(`a label twice: ${line}`)
  return { name, labels, value: Number(value.replace('Inf', 'Infinity')) }
}

/** The samples of a histogram have three endings. */
function isOf(sample: string, { name, type }: { readonly name: string; readonly type: string }): boolean {
  return type === 'histogram' ? ['_bucket', '_sum', '_count'].some((end) => sample === name + end) : sample === name
}

function matched(pattern: RegExp, line: string | undefined): RegExpExecArray {
  const match = pattern.exec(line ?? '')
  if (match === null) throw new Error(`not of the format: ${line}`)
  return match
}
