import { newPageAddress } from '../keys/page-sessions.js'
import { inTables, type StoreCommand } from './store-command.js'

/** Makes an address of the page that opens one browser. Returns the text for stdout. */
export async function makePageAddress(command: StoreCommand): Promise<string> {
  const page = await inTables(command, ({ pageSessions }) => newPageAddress(pageSessions))
  return command.json ? `${JSON.stringify({ page })}\n` : `${page}\n`
}
