import type { Store } from '../delivery/store.js'
import type { Clock } from '../runtime/clock.js'

/** Runs work that may wait for a disk, so that others can see that it does. */
export type OnDisk = <Result>(work: () => Result) => Result

/** A store all of whose work is seen. */
export function watchedStore(store: Store, onDisk: OnDisk): Store {
  return {
    get lossReason() {
      return store.lossReason
    },
    keep: (lane, record) => onDisk(() => store.keep(lane, record)),
    look: () => onDisk(() => store.look()),
    park: (place) => onDisk(() => store.park(place)),
    unpark: (lane, room) => onDisk(() => store.unpark(lane, room)),
    settle: (place) => onDisk(() => store.settle(place)),
    reject: (lane, record, refusal) => onDisk(() => store.reject(lane, record, refusal)),
    close: () => onDisk(() => store.close()),
  }
}

/** A clock all of whose tasks are seen: those of a spool read and write files. */
export function watchedClock(clock: Clock, onDisk: OnDisk): Clock {
  return {
    now: () => clock.now(),
    schedule: (task, delayMs, keepAlive) => clock.schedule(() => onDisk(task), delayMs, keepAlive),
  }
}
