/** Labels of a sample, by name. */
export type Labels = Readonly<Record<string, string>>

/** One number of a metric. */
export interface Sample {
  readonly labels?: Labels
  readonly value: number
}

/** A metric with all of its samples. */
export interface MetricFamily {
  readonly name: string
  readonly type: 'counter' | 'gauge'
  /** One line. */
  readonly help: string
  readonly samples: readonly Sample[]
}

/** A metric in Prometheus's text format, version 0.0.4. Empty for a metric without samples. */
export function familyText({ name, type, help, samples }: MetricFamily): string {
  if (samples.length === 0) return ''
  const lines = samples.map(({ labels = {}, value }) => `${name}${labelText(labels)} ${value}`)
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n')
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join()}}`
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
