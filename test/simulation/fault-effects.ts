import type { DiskOperation } from './disk/disk-faults.js'
import type { FailureCode } from './disk/failure.js'
import type { SimulatedDisk } from './disk/simulated-disk.js'
import type { Fault, networkFaults, Poison, rareServiceFaults, serviceFaults } from './faults.js'
import type { Conditions } from './network/conditions.js'
import type { Behaviour, Trouble } from './service/behaviour.js'

/** The trouble with bad records. */
export function poisonOf(kind: Poison): Behaviour['poison'] {
  const trouble = poisonTroubles[kind]
  return ({ body }) => (body.includes(' poison ') ? trouble : undefined)
}

const poisonTroubles: Readonly<Record<Poison, Trouble>> = {
  '500': { type: 'status', status: 500 },
  '400': { type: 'status', status: 400 },
  '403': { type: 'status', status: 403 },
  '413 page': { type: 'page', status: 413 },
  reset: { type: 'reset', when: 'before commit' },
  hang: { type: 'hang', when: 'before commit' },
}

/** Faults of the network, with their chance for each new connection, as conditions. */
export const networkChanges: Readonly<Record<(typeof networkFaults)[number], (chance: number) => Partial<Conditions>>> =
  {
    refuse: (refused) => ({ refused }),
    dns: (chance) => ({ unknownName: chance / 2, nameServerSilent: chance / 2 }),
    'black hole': (chance) => ({ blackHole: chance * 0.8, unanswered: chance * 0.2 }),
    'reset early': (reset) => ({ reset, cutAfterBytes: [0, 700] }),
    'reset late': (reset) => ({ reset, cutAfterBytes: [500, 10_000] }),
    fin: (closed) => ({ closed, cutAfterBytes: [0, 3000] }),
    slow: () => ({ latencyMs: [300, 3000], jitterMs: 200, bytesPerMs: 5 }),
    'single bytes': () => ({ segmentBytes: 1 }),
  }

const status = (code: number, when: 'before commit' | 'after commit' = 'before commit'): { trouble: Trouble } => ({
  trouble: { type: 'status', status: code, when },
})
const asked = (as: 'seconds' | 'date'): { trouble: Trouble } => ({
  trouble: { type: 'status', status: 429, retryAfter: { seconds: 7, as } },
})

const cut = (part: 'head' | 'body', closesWith: 'fin' | 'reset'): { trouble: Trouble } => ({
  trouble: { type: 'cut answer', in: part, closesWith, when: 'after commit' },
})

type ServiceFault = (typeof serviceFaults)[number] | (typeof rareServiceFaults)[number]

/** Faults of the service as behaviours. */
export const serviceChanges: Readonly<Record<Exclude<ServiceFault, 'deploy'>, Partial<Behaviour>>> = {
  'reset before commit': { trouble: { type: 'reset', when: 'before commit' } },
  'reset after commit': { trouble: { type: 'reset', when: 'after commit' } },
  'garbage after commit': { trouble: { type: 'garbage', when: 'after commit' } },
  'end in the head': cut('head', 'fin'),
  'end in the body': cut('body', 'fin'),
  'reset in the body': cut('body', 'reset'),
  'long answer': { trouble: { type: 'long answer', when: 'after commit' } },
  'announced closes': { requestsPerConnection: 1, announcesClose: 'close' },
  'unannounced closes': { requestsPerConnection: 1, announcesClose: 'no' },
  'surplus answer': { trouble: { type: 'surplus answer', when: 'after commit' } },
  '500 before commit': status(500),
  '500 after commit': status(500, 'after commit'),
  '503': status(503),
  '429': status(429),
  '429 with seconds': asked('seconds'),
  '429 with date': asked('date'),
  '401': status(401),
  '403': status(403),
  '404': status(404),
  '412': status(412),
  'hung before commit': { trouble: { type: 'hang', when: 'before commit' } },
  'hung after commit': { trouble: { type: 'hang', when: 'after commit' } },
  slow: { workMs: [500, 3000] },
  late: { workMs: [60, 60] },
  '400 page': { trouble: { type: 'page', status: 400 } },
  '504 after commit': status(504, 'after commit'),
  garbage: { trouble: { type: 'garbage', when: 'before commit' } },
  html: { trouble: { type: 'html' } },
  'result false': { trouble: { type: 'result false' } },
  'hasty close': { requestsPerConnection: 2, announcesClose: 'no', closesWith: 'reset' },
  'HTTP/1.0': { form: '1.0' },
}

/** Faults of the disk that fail one operation. */
const diskFailures: Partial<Record<string, readonly [FailureCode, DiskOperation]>> = {
  EDQUOT: ['EDQUOT', 'write'],
  'EIO at write': ['EIO', 'write'],
  'EIO at fsync': ['EIO', 'fsync'],
  'EIO at close': ['EIO', 'close'],
  'EIO at read': ['EIO', 'read'],
}

const slowDiskMs = 20
const fullDiskBytes = 2000
const largestFileBytes = 8192

/** Give a disk a fault, besides those that it has. */
export function troubleDisk(disk: SimulatedDisk, { kind, chance, at, forMs }: Fault & { readonly on: 'disk' }): void {
  const { faults } = disk
  const failing = diskFailures[kind]
  if (failing !== undefined) faults.at.set(failing[1], { code: failing[0], chance })
  else if (kind === 'EROFS') faults.readOnly = true
  else if (kind === 'slow') faults.slowMs = slowDiskMs
  else if (kind === 'hung') faults.hungUntilMs = at + forMs
  else if (kind === 'EFBIG') faults.fileBytes = largestFileBytes
  else if (kind === 'ENOSPC') {
    faults.capacityBytes = disk.usedBytes + fullDiskBytes
    faults.shortWrites = chance / 2
  }
}
