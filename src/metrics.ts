import { installProcessHooks } from './process/install.js'

export { health } from './metrics/health.js'
export type { Health, HealthStatus, LaneHealth } from './metrics/health-status.js'
export { prometheusText } from './metrics/prometheus.js'

// pino's workers announce themselves to a process that listens.
installProcessHooks()
