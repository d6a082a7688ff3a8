import { makeKey, type NewKey, shownKey, unknownProject } from '../keys/keys.js'
import { noneSuch } from '../unknown-project.js'
import { commandAt, placeOf } from './place.js'
import { inTables, listed, type StoreCommand } from './store-command.js'

// The commands `sluice-receiver keys`. They return the text for stdout.

export function addKey(command: StoreCommand, wanted: Required<NewKey>): Promise<string> {
  return inTables(command, async ({ keys, projects }) => {
    const unknown = await unknownProject(projects, wanted.projects ?? null)
    if (unknown !== undefined) {
      throw new Error(noneSuch('project', unknown, await projects.list()))
    }
    const { key, stored } = await makeKey(keys, wanted)
    if (command.json) return `${JSON.stringify({ ...shownKey(stored), key })}\n`
    const bounds = stored.projects === null ? '' : ` for ${stored.projects.join(', ')}`
    return `Key ${stored.id} with ${stored.scopes.join(', ')}${bounds}. It is shown only now:\n\n  ${key}\n\n`
  })
}

export function listKeys(command: StoreCommand): Promise<string> {
  return inTables(command, async ({ keys }) =>
    listed((await keys.list()).map(shownKey), {
      json: command.json,
      head: ['id', 'made', 'last used', 'scopes', 'projects', 'name'],
      cells: ({ id, createdAt, lastUsed, scopes, projects, name }) => [
        id,
        createdAt.slice(0, 10),
        lastUsed ?? 'never',
        scopes.join(','),
        projects?.join(',') ?? 'all',
        name,
      ],
    }),
  )
}

export function revokeKey(command: StoreCommand, id: string): Promise<string> {
  return inTables(command, async ({ keys }) => {
    if (!(await keys.revoke(id))) {
      throw new Error(`there is no key ${id} in ${placeOf(command)}; ${commandAt(command, ' keys list')} shows the ids`)
    }
    return command.json ? `${JSON.stringify({ id })}\n` : `Key ${id} is revoked.\n`
  })
}
