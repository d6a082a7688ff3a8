export { SluiceLogRecordExporter } from './exporter.js'
export { instrument, type MetricsMeter, type MetricsObservation } from './instrument.js'
