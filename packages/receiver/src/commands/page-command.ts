import { newPageAddress } from '../keys/page-sessions.js'
import { isFolderInUse } from '../storage/sqlite/folder-lock.js'
import { noReceiverAt, storeFault } from './place.js'
import { inTables, type StoreCommand } from './store-command.js'

/**
 * Makes an address of the page that opens one browser. Returns the text for stdout.
 *
 * @throws if no receiver runs there
 */
export async function makePageAddress(command: StoreCommand): Promise<string> {
  const fault = command.data === ':memory:' ? undefined : storeFault(command)
  if (fault !== undefined) throw new Error(`page: ${noReceiverAt(command, fault)}`)
  const page = await inTables(command, ({ pageSessions }) => newPageAddress(pageSessions))
  // A receiver that starts has the folder before it has noted its address.
  const runs = (command.database !== undefined || isFolderInUse(command.data)) && (await listens(page))
  if (!runs) throw new Error(`page: ${noReceiverAt(command)}`)
  return command.json ? `${JSON.stringify({ page })}\n` : `${page}\n`
}

/** False where nothing listens. A name or a certificate that this machine does not know proves nothing. */
async function listens(page: string): Promise<boolean> {
  try {
    await fetch(`${new URL(page).origin}/api/health`)
    return true
  } catch (error) {
    return ((error as Error).cause as NodeJS.ErrnoException | undefined)?.code !== 'ECONNREFUSED'
  }
}
