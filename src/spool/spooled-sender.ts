import type { Batch, Carriage, Sender } from '../delivery/sender.js'
import type { RecordKind } from '../records/wire.js'
import type { Spool } from './spool.js'

/** Sends each record only after it is on disk. */
export class SpooledSender implements Sender {
  readonly #sender: Sender
  readonly #spool: Pick<Spool, 'commit'>

  constructor(sender: Sender, spool: Pick<Spool, 'commit'>) {
    this.#sender = sender
    this.#spool = spool
  }

  carriage(kind: RecordKind): Carriage {
    return this.#sender.carriage(kind)
  }

  send(batch: Batch): Promise<void> {
    this.#spool.commit()
    return this.#sender.send(batch)
  }

  close(): Promise<void> {
    return this.#sender.close()
  }
}
