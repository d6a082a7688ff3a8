import type { Observer } from '../../src/delivery/observer.js'

/** For a delivery of which nobody is told anything. */
export const nobody: Observer = { dropped() {}, rejected() {}, paused() {}, outage() {}, resumed() {}, recovered() {} }
