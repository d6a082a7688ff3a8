/** The value events of the shop. */
export const events = {
  productViewed: 1001,
  addedToCart: 1002,
  checkedOut: 1003,
  paymentFailed: 1004,
  stockReplenished: 1005,
  reportSent: 1006,
}
