import { proxyFor } from '../http/proxy.js'
import type { ResolvedOptions } from '../options/options.js'

/** The line that says that nothing listens at the address of the service, or at that of the proxy to it. */
export function nothingListens({ url, spoolDir }: Pick<ResolvedOptions, 'url' | 'spoolDir'>): string {
  const waiting = `records wait ${spoolDir === undefined ? 'in memory' : 'on disk'}`
  const proxy = proxyFor(url, process.env)
  if (proxy.type === 'proxy') {
    // Without its user and password.
    const { origin } = new URL(proxy.url)
    return `nothing listens at ${origin}, the proxy of ${proxy.variable}; ${waiting}: correct ${proxy.variable}, or see npx sluice doctor`
  }
  const { hostname } = new URL(url)
  const isHere = /^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname)
  const remedy = isHere ? 'start a receiver with npx sluice-receiver' : 'check SLUICE_URL'
  return `nothing listens at ${url}; ${waiting}: ${remedy}, or see npx sluice doctor`
}
