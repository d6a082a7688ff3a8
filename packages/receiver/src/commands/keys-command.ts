import { makeKey, type NewKey, shownKey, unknownProject } from '../keys/keys.js'
import { inTables, listed, placeOf, type StoreCommand } from './store-command.js'

/** The command `sluice-receiver keys`. */
export type KeysCommand = StoreCommand &
  (
    | ({ readonly action: 'add'; readonly projects: readonly string[] | null } & Required<NewKey>)
    | { readonly action: 'list' }
    | { readonly action: 'revoke'; readonly id: string }
  )

/** Makes, lists or revokes API keys in a data folder or a database. Returns the text for stdout. */
export function runKeys(command: KeysCommand): Promise<string> {
  return inTables(command, async ({ keys, projects }) => {
    const { json } = command
    switch (command.action) {
      case 'add': {
        const unknown = await unknownProject(projects, command.projects)
        if (unknown !== undefined) throw new Error(`there is no project ${unknown} in ${placeOf(command)}`)
        const { key, stored } = await makeKey(keys, command)
        if (json) return `${JSON.stringify({ ...shownKey(stored), key })}\n`
        const bounds = stored.projects === null ? '' : ` for ${stored.projects.join(', ')}`
        return `Key ${stored.id} with ${stored.scopes.join(', ')}${bounds}. It is shown only now:\n\n  ${key}\n\n`
      }
      case 'list':
        return listed((await keys.list()).map(shownKey), {
          json,
          head: ['id', 'made', 'last used', 'scopes', 'projects', 'name'],
          cells: ({ id, createdAt, lastUsed, scopes, projects, name }) => [
            id,
            createdAt.slice(0, 10),
            lastUsed ?? 'never',
            scopes.join(','),
            projects?.join(',') ?? 'all',
            name,
          ],
        })
      case 'revoke':
        if (!(await keys.revoke(command.id))) throw new Error(`there is no key ${command.id} in ${placeOf(command)}`)
        return json ? `${JSON.stringify({ id: command.id })}\n` : `Key ${command.id} is revoked.\n`
    }
  })
}
