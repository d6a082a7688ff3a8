const text = { type: 'string', minLength: 1 } as const
const whole = { type: 'integer', minimum: 0 } as const
const dataSource = {
  type: 'object',
  required: ['type', 'uid'],
  properties: { type: { const: 'prometheus' }, uid: { type: 'string', pattern: String.raw`^\$\{datasource\}$` } },
} as const

const panel = {
  type: 'object',
  required: ['id', 'type', 'title', 'description', 'datasource', 'gridPos', 'targets', 'fieldConfig', 'options'],
  properties: {
    id: { type: 'integer', minimum: 1 },
    type: { enum: ['timeseries', 'stat', 'state-timeline'] },
    title: text,
    description: text,
    datasource: dataSource,
    gridPos: {
      type: 'object',
      additionalProperties: false,
      required: ['h', 'w', 'x', 'y'],
      properties: {
        h: { type: 'integer', minimum: 1 },
        w: { type: 'integer', minimum: 1, maximum: 24 },
        x: { type: 'integer', minimum: 0, maximum: 23 },
        y: whole,
      },
    },
    fieldConfig: {
      type: 'object',
      required: ['defaults', 'overrides'],
      properties: { defaults: { type: 'object' }, overrides: { type: 'array' } },
    },
    options: { type: 'object' },
    targets: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['refId', 'datasource', 'expr', 'legendFormat'],
        properties: {
          refId: { type: 'string', pattern: '^[A-Z]$' },
          datasource: dataSource,
          expr: text,
          legendFormat: text,
        },
      },
    },
  },
} as const

/** The part of Grafana's schema of dashboards (kinds/dashboard/dashboard_kind.cue) that a dashboard with panels of Prometheus needs. */
export const grafanaSchema = {
  type: 'object',
  required: ['uid', 'title', 'schemaVersion', 'version', 'time', 'refresh', 'templating', 'annotations', 'panels'],
  properties: {
    // Grafana gives a dashboard its number at the import.
    id: { type: 'null' },
    uid: { type: 'string', pattern: '^[a-zA-Z0-9_-]{1,40}$' },
    title: text,
    tags: { type: 'array', items: text },
    schemaVersion: { type: 'integer', minimum: 36 },
    version: whole,
    editable: { type: 'boolean' },
    graphTooltip: { enum: [0, 1, 2] },
    refresh: { type: 'string', pattern: String.raw`^\d+[smh]$` },
    time: { type: 'object', required: ['from', 'to'], properties: { from: text, to: text } },
    annotations: { type: 'object', required: ['list'], properties: { list: { type: 'array' } } },
    templating: {
      type: 'object',
      required: ['list'],
      properties: {
        list: {
          type: 'array',
          items: {
            type: 'object',
            required: ['name', 'type', 'query'],
            properties: {
              name: { type: 'string', pattern: String.raw`^\w+$` },
              type: { enum: ['datasource', 'query'] },
            },
          },
        },
      },
    },
    panels: { type: 'array', minItems: 1, items: panel },
  },
} as const
