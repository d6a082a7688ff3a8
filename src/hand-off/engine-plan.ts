import type { ResolvedOptions } from '../options/options.js'
import { placedFolder } from '../spool/placed-folder.js'
import type { EnginePlan } from './protocol.js'

/** From the options to what can cross into the worker. */
export function enginePlan(
  { apiKey, accessToken: _token, onError: _listener, spoolDir, ...rest }: ResolvedOptions,
  setting: Pick<EnginePlan, 'memory' | 'state' | 'diskIsStalled'>,
): EnginePlan {
  // The ledger that counts is the one of the application's side.
  const options = { ...rest, debug: false, spoolDir: spoolDir === undefined ? undefined : placedFolder(spoolDir) }
  return { options, apiKey: apiKey.reveal(), ...setting }
}
