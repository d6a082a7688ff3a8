export { type SluiceExpressOptions, sluiceExpress } from './web/express-middleware.js'
export type { RequestLogger } from './web/request-line.js'
