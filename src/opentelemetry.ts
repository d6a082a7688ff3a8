import { installProcessHooks } from './process/install.js'

export { SluiceLogRecordExporter } from './loggers/opentelemetry-exporter.js'

installProcessHooks()
