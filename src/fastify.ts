import { installProcessHooks } from './process/install.js'

export { type SluiceFastifyOptions, sluiceFastify } from './web/fastify-plugin.js'
export type { RequestLogger } from './web/request-line.js'

installProcessHooks()
