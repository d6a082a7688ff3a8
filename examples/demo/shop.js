import fastify from 'fastify'
import { track } from 'sluice'
import { events } from './events.js'

const products = new Map(
  ['teapot', 'kettle', 'cup', 'saucer', 'spoon', 'tray'].map((name, index) => [
    String(index + 1),
    { id: String(index + 1), name, price: 5 + index * 7 },
  ]),
)

/** A shop: products, carts, checkout. Its logger is fastify's own pino, shipped by one line of configuration. */
export function buildShop() {
  const app = fastify({ logger: { level: 'debug', transport: { target: 'sluice/pino' } } })
  /** @type {Map<string, string[]>} */
  const carts = new Map()

  app.get('/products', async () => [...products.values()])

  app.get('/products/:id', async (request, reply) => {
    const product = products.get(idOf(request))
    if (product === undefined) {
      request.log.warn({ productId: idOf(request) }, 'no such product')
      return reply.code(404).send({ message: 'no such product' })
    }
    track(events.productViewed)
    return product
  })

  app.post('/carts/:id', async (request, reply) => {
    const { product } = /** @type {{ product: string }} */ (request.body)
    const cart = carts.get(idOf(request)) ?? []
    cart.push(product)
    carts.set(idOf(request), cart)
    request.log.debug({ cart: idOf(request), items: cart.length }, 'added to cart')
    track(events.addedToCart)
    return reply.code(201).send(cart)
  })

  app.post('/carts/:id/checkout', async (request) => {
    const cart = carts.get(idOf(request)) ?? []
    carts.delete(idOf(request))
    try {
      pay(cart)
    } catch (error) {
      track(events.paymentFailed)
      throw new Error('checkout failed', { cause: error })
    }
    request.log.info({ cart: idOf(request), items: cart.length, eventId: events.checkedOut }, 'checked out')
    track(events.checkedOut)
    return { paid: true }
  })

  return app
}

/** @param {string[]} cart */
function pay(cart) {
  if (cart.length % 5 === 0) throw Object.assign(new Error('card declined'), { code: 'CARD_DECLINED' })
}

/** @param {{ params: unknown }} request */
function idOf(request) {
  return /** @type {{ id: string }} */ (request.params).id
}
