import { readFileSync } from 'node:fs'
import { transformSync } from 'esbuild'

// The tests' clock, whose time moves only on request; its types are removed, because Node 20 cannot read them.
const source = readFileSync(new URL('../../test/support/virtual-clock.ts', import.meta.url), 'utf8')
const { code } = transformSync(source, { loader: 'ts' })

/** @type {typeof import('../../test/support/virtual-clock.ts').VirtualClock} */
export const VirtualClock = (await import(`data:text/javascript,${encodeURIComponent(code)}`)).VirtualClock
