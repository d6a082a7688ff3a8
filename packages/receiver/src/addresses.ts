import type { AddressInfo } from 'node:net'

/** The address as it stands in a URL. An address that means "all addresses" becomes loopback. */
export function reachable({ address, family }: AddressInfo): string {
  if (address === '0.0.0.0') return '127.0.0.1'
  if (address === '::') return '[::1]'
  return family === 'IPv6' ? `[${address}]` : address
}

/** Host and port of the page. An address that means "all addresses" becomes localhost: a container's own address means nothing outside. */
export function pageAddress(address: AddressInfo, pageHost: string | undefined): string {
  if (pageHost !== undefined) return /:\d+$/.test(pageHost) ? pageHost : `${pageHost}:${address.port}`
  const isAll = address.address === '0.0.0.0' || address.address === '::'
  return `${isAll ? 'localhost' : reachable(address)}:${address.port}`
}
