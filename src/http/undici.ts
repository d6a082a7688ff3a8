// Parts of undici, from their own files. tools/bundle.js puts them into one file of the package, dist/undici.cjs: see
// docs/decisions/0020-undici-in-the-package.md.
// @ts-expect-error undici describes the types of its whole alone
import connect from 'undici/lib/api/api-connect.js'
// @ts-expect-error
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js'
// @ts-expect-error
import Pool from 'undici/lib/dispatcher/pool.js'
// @ts-expect-error
import ProxyAgent from 'undici/lib/dispatcher/proxy-agent.js'

// The index does it, too. It asks a proxy for a tunnel.
Dispatcher.prototype.connect = connect

export { Pool, ProxyAgent }
