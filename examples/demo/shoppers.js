import { setTimeout } from 'node:timers/promises'

/** How many shoppers come, and how many of them are in the shop at once. */
const shoppers = 400
const atOnce = 20
/** The time between two shoppers of {@link keepShopping}. */
const pauseMs = 250

/**
 * Drive the shop with real requests of 400 shoppers.
 *
 * @param {string} shop base URL
 * @returns {Promise<number>} requests that were answered
 */
export async function goShopping(shop) {
  let next = 0
  let requests = 0
  const shopper = async () => {
    while (next < shoppers) {
      const made = await visit(shop, next++)
      requests += made
    }
  }
  await Promise.all(Array.from({ length: atOnce }, shopper))
  return requests
}

/**
 * Send one shopper after another, four in a second at most.
 *
 * @param {string} shop base URL
 * @param {AbortSignal} signal ends it
 */
export async function keepShopping(shop, signal) {
  for (let number = 0; !signal.aborted; number++) {
    await visit(shop, number)
    await setTimeout(pauseMs, undefined, { signal }).catch(() => {})
  }
}

/**
 * One shopper looks around, fills a cart and checks out.
 *
 * @param {string} shop base URL
 * @param {number} number of the shopper, from 0
 * @returns {Promise<number>} requests that were answered
 */
async function visit(shop, number) {
  let requests = 0

  /** @param {string} path @param {object} [body] */
  const call = async (path, body) => {
    const init =
      body === undefined
        ? {}
        : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    const response = await fetch(`${shop}${path}`, init)
    await response.arrayBuffer()
    requests++
  }

  await call('/products')
  await call(`/products/${(number % 8) + 1}`)
  for (let item = 0; item < number % 6; item++) await call(`/carts/${number}`, { product: String(item + 1) })
  await call(`/carts/${number}/checkout`, {})
  return requests
}
