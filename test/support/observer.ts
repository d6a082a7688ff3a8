import type { Observer } from '../../src/delivery/observer.js'

/** Ignores everything. */
export const silentObserver: Observer = {
  dropped() {},
  rejected() {},
  paused() {},
  outage() {},
  resumed() {},
  recovered() {},
}
