import { idOfKey, type NewKey } from '../keys/keys.js'
import { type Options, optionTable } from '../options/option-table.js'
import { type Receiver, startReceiver } from '../receiver.js'
import type { ReceiverError } from '../receiver-error.js'
import { type JoinedReceiver, joinReceiver, revokeKeyOf } from './joined-receiver.js'

export interface OpenedPlace extends Pick<Options, 'host' | 'data' | 'database' | 'events' | 'retain'> {
  /** Undefined: the usual port, or a free one where that is taken. */
  readonly port: number | undefined
}

/** A receiver for one command. */
export interface OpenedReceiver extends JoinedReceiver {
  /** False where it was started for the command, and ends with it. */
  readonly isJoined: boolean
}

/** Starts a receiver with a key for one command, or joins the one that runs on the data folder. */
export async function openReceiver(place: OpenedPlace, wanted: NewKey): Promise<OpenedReceiver> {
  const receiver = await started(place)
  const store = { data: place.data, database: place.database, json: false }
  if (receiver === undefined) return { ...(await joinReceiver(store, wanted)), isJoined: true }
  const apiKey = receiver.apiKey!
  return {
    ...receiver,
    apiKey,
    isJoined: false,
    async close() {
      await receiver.close()
      if (place.data !== ':memory:') await revokeKeyOf(store, idOfKey(apiKey))
    },
  }
}

/** Undefined where one runs on the data folder. */
async function started({ port, ...place }: OpenedPlace): Promise<Receiver | undefined> {
  const options = { ...place, newKey: true }
  try {
    return await startReceiver({ ...options, port: port ?? optionTable.port.default })
  } catch (error) {
    const { code } = error as Partial<ReceiverError>
    if (code === 'DATA_IN_USE') return undefined
    if (code !== 'PORT_TAKEN' || port !== undefined) throw error
    return await startReceiver({ ...options, port: 0 })
  }
}
