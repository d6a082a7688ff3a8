import { modules } from '../../tools/modules.js'

/** The tests' clock, whose time moves only on request. @type {typeof import('../../test/support/virtual-clock.ts')} */
export const { VirtualClock } = await modules('../test/support/virtual-clock')
