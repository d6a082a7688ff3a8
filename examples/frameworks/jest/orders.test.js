const { captureSluice } = require('sluice/testing')
const { placeOrder } = require('./orders')

const captured = captureSluice() // nothing leaves the process
afterEach(() => captured.clear())
afterAll(() => captured.restore())

test('an order is logged and counted', () => {
  placeOrder(7)
  expect(captured.logs).toContainEqual(expect.objectContaining({ message: 'order placed {"orderId":7}' }))
  expect(captured.values).toContainEqual(expect.objectContaining({ eventId: 1001 }))
})
