import type { Project } from '../schemas/projects.js'
import { noneSuch } from '../unknown-project.js'
import { commandAt, placeOf } from './place.js'
import { inTables, listed, type StoreCommand } from './store-command.js'

// The commands `sluice-receiver projects`. They return the text for stdout.

export function listProjects(command: StoreCommand): Promise<string> {
  return inTables(command, async ({ projects }) =>
    listed((await projects.page({ offset: 0, limit: Number.MAX_SAFE_INTEGER })).list, {
      json: command.json,
      head: ['id', 'plan'],
      cells: (project) => [project.id, planOf(project)],
    }),
  )
}

export function addProject(command: StoreCommand, id: string): Promise<string> {
  return inTables(command, async ({ projects }) => {
    const project = await projects.add(id)
    if (project === undefined)
      throw new Error(
        `there is a project ${id} in ${placeOf(command)} already; ${commandAt(command, ' projects list')} shows all`,
      )
    return shown(command, project)
  })
}

export function changePlan(command: StoreCommand, { id, plan }: Project): Promise<string> {
  return inTables(command, async ({ projects }) => {
    const project = await projects.changePlan(id, plan)
    if (project === undefined) throw new Error(noneSuch('project', id, await projects.list()))
    return shown(command, project)
  })
}

function shown({ json }: StoreCommand, project: Project): string {
  return json ? `${JSON.stringify(project)}\n` : `Project ${project.id} has a plan ${planOf(project)}.\n`
}

function planOf({ plan }: Project): string {
  return plan.content ? 'with content' : 'without content'
}
