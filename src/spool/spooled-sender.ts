import type { Sender } from '../delivery/sender.js'

/** Sends each record only after it is on disk: `commit` writes the gathered lines of the spool. */
export function spooledSender(sender: Sender, commit: () => void): Sender {
  return {
    carriage: (kind) => sender.carriage(kind),
    send: (batch) => {
      commit()
      sender.send(batch)
    },
    close: () => sender.close(),
  }
}
