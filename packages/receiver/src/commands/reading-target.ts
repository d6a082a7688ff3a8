import { describeError } from '../../../../src/http/describe-error.js'
import type { RecordKind } from '../../../../src/records/wire.js'
import type { JoinedReceiver } from './joined-receiver.js'
import { noReceiverAt, type Place, storeFault } from './place.js'
import { readingOptions } from './reading-service.js'

/** Where a command reads from. */
export interface ReadingTarget {
  readonly options: ReturnType<typeof readingOptions>
  /** Takes back what was made for the command. */
  close(): Promise<void>
}

export interface TargetPlan {
  /** Name of the command, and of its key. */
  readonly name: string
  readonly needs: RecordKind
  /** Where no receiver runs, the command may run one on the store while it reads. */
  readonly opens: boolean
}

/** No receiver runs where a command would read. */
export class NoneRunsError extends Error {
  /** A receiver has run there. */
  readonly hasStore: boolean

  constructor(message: string, hasStore: boolean) {
    super(message)
    this.hasStore = hasStore
  }
}

/**
 * The service of `SLUICE_URL`. Without that variable, the receiver that runs on the store, with a key that may only read and holds for this run.
 *
 * @throws {ConfigError | NoneRunsError}
 */
export async function readingTarget(place: Place, plan: TargetPlan): Promise<ReadingTarget> {
  const { SLUICE_URL: url, SLUICE_API_KEY_FILE: _, ...others } = process.env
  if (url !== undefined && url.trim() !== '') return { options: readingOptions(plan.needs), close: async () => {} }
  const { url: found, project, apiKey, close } = await receiverOn(place, plan)
  const environment = { SLUICE_BUCKET: project, ...others, SLUICE_URL: found, SLUICE_API_KEY: apiKey }
  return { options: readingOptions(plan.needs, environment), close }
}

async function receiverOn({ data, database }: Place, { name, opens }: TargetPlan): Promise<JoinedReceiver> {
  const store = { data, database, json: false }
  const wanted = { name, scopes: ['read'] } as const
  const fault = storeFault(store)
  // These modules bring the databases.
  const { joinReceiver } = await import('./joined-receiver.js')
  try {
    return await joinReceiver(store, wanted)
  } catch (error) {
    const { cause = error } = error as Error
    const words = `${noReceiverAt(store, fault ?? describeError(cause))}, or set SLUICE_URL, SLUICE_API_KEY and SLUICE_BUCKET`
    if (!opens || fault !== undefined) throw new NoneRunsError(words, fault === undefined)
  }
  const { openReceiver } = await import('./opened-receiver.js')
  return await openReceiver({ ...store, host: '127.0.0.1', port: 0, events: undefined, retain: undefined }, wanted)
}
