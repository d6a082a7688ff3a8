/** How many shoppers come, and how many of them are in the shop at once. */
const shoppers = 400
const atOnce = 20

/**
 * Drive the shop with real requests: each shopper looks around, fills a cart and checks out.
 *
 * @param {string} shop base URL
 * @returns {Promise<number>} requests that were answered
 */
export async function goShopping(shop) {
  let next = 0
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

  const shopper = async () => {
    while (next < shoppers) {
      const number = next++
      await call('/products')
      await call(`/products/${(number % 8) + 1}`)
      for (let item = 0; item < number % 6; item++) await call(`/carts/${number}`, { product: String(item + 1) })
      await call(`/carts/${number}/checkout`, {})
    }
  }
  await Promise.all(Array.from({ length: atOnce }, shopper))
  return requests
}
