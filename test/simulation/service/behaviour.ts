import type { Range } from '../network/conditions.js'
import type { ServiceRequest } from './request-reader.js'

/** Before or after the record is stored. */
export type Moment = 'before commit' | 'after commit'

/** The way in which a backend fails with a request. */
export type Trouble =
  | { readonly type: 'status'; readonly status: number; readonly when?: Moment; readonly retryAfter?: RetryAfter }
  /** It takes the request and never answers. */
  | { readonly type: 'hang'; readonly when: Moment }
  | { readonly type: 'reset'; readonly when: Moment }
  /** 200 with a page in HTML, as a proxy or login page sends it. Nothing is stored. */
  | { readonly type: 'html' }
  /** A page in HTML with this status, as a gateway before the service sends it. Nothing is stored. */
  | { readonly type: 'page'; readonly status: number }
  /** 200 with `result: false`. Nothing is stored. */
  | { readonly type: 'result false' }
  /** It stores the record, and answers twice. */
  | { readonly type: 'surplus answer'; readonly when: 'after commit' }
  /** It stores the record, and its answer breaks off. */
  | {
      readonly type: 'cut answer'
      readonly in: 'head' | 'body'
      readonly closesWith: 'fin' | 'reset'
      readonly when: 'after commit'
    }
  /** It stores the record, and its answer is longer than anybody reads. */
  | { readonly type: 'long answer'; readonly when: 'after commit' }
  /** Bytes that are not HTTP. */
  | { readonly type: 'garbage'; readonly when: Moment }

export interface RetryAfter {
  readonly seconds: number
  readonly as: 'seconds' | 'date'
}

/** The form of an answer: a body with its length, in chunks, or HTTP/1.0, or 204. */
export type Form = 'length' | 'chunked' | '1.0' | '1.0 keep-alive' | '204'

/** How a backend serves connections and requests. Replace it as a whole to change it. */
export interface Behaviour {
  /** Time of a request. It is stored in the middle of it. Without any it is answered at once. */
  readonly workMs: Range
  readonly pipelined: 'side by side' | 'one by one'
  readonly trouble: Trouble | undefined
  /** Chance for each request that the trouble befalls it. */
  readonly troubleChance: number
  /** The trouble with this record, whoever sends it and when. */
  readonly poison: (request: ServiceRequest) => Trouble | undefined
  readonly echoesKeys: boolean
  /** Stores a record once, however often it comes. */
  readonly honoursKeys: boolean
  readonly form: Form
  /** Answers a request that it refuses before the body has come. */
  readonly answersEarly: boolean
  readonly requestsPerConnection: number
  /** In the last answer, or from the first one on by `keep-alive: max=N`. */
  readonly announcesClose: 'no' | 'close' | 'max'
  readonly closesWith: 'fin' | 'reset'
  /** Time for which it keeps an idle connection. */
  readonly idleMs: number
  /** By `keep-alive: timeout=N`. */
  readonly announcesIdle: boolean
  /** Says 408 before it closes an idle connection. */
  readonly goodbye: boolean
  /** Connections go to the real receiver, and nothing above counts. */
  readonly receiver: boolean
}

export const fineBehaviour: Behaviour = {
  workMs: [0, 0],
  pipelined: 'side by side',
  trouble: undefined,
  troubleChance: 1,
  poison: () => undefined,
  echoesKeys: true,
  honoursKeys: true,
  form: 'length',
  answersEarly: false,
  requestsPerConnection: Number.POSITIVE_INFINITY,
  announcesClose: 'no',
  closesWith: 'fin',
  idleMs: 60_000,
  announcesIdle: false,
  goodbye: false,
  receiver: false,
}
