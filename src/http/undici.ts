import type * as whole from 'undici'
// @ts-expect-error undici describes the types of its whole alone
import connectMethod from 'undici/lib/api/api-connect.js'
// @ts-expect-error
import connect from 'undici/lib/core/connect.js'
// @ts-expect-error
import dispatcher from 'undici/lib/dispatcher/dispatcher.js'
// @ts-expect-error
import pool from 'undici/lib/dispatcher/pool.js'
// @ts-expect-error
import proxyAgent from 'undici/lib/dispatcher/proxy-agent.js'

/**
 * The parts of undici that are used, from their own files, for which package.json holds undici to patches of one minor version.
 *
 * Its index loads `fetch`, WebSockets and cookies besides, and reads `globalThis.Headers`, upon which Node loads its own undici and
 * starts to compile WebAssembly in the background. A worker that ends while that goes on can take the process down with SIGSEGV, as a
 * core dump of Node 20.20 has shown: rarely, once in some 4,000 workers that had just started. The index costs 9 MB more besides, and 60
 * to 110 ms of CPU at each start (`require` of one and of the other, three times each).
 */
export const Pool: typeof whole.Pool = pool
export type Pool = whole.Pool
export const ProxyAgent: typeof whole.ProxyAgent = proxyAgent
export const buildConnector: typeof whole.buildConnector = connect

// As the index does; a proxy is asked for a tunnel by it.
dispatcher.prototype.connect = connectMethod
