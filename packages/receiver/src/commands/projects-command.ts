import type { Plan, Project } from '../schemas/projects.js'
import type { ProjectStorage } from '../storage/storage.js'
import { inTables, listed, placeOf, type StoreCommand } from './store-command.js'

/** The command `sluice-receiver projects`. */
export type ProjectsCommand = StoreCommand &
  (
    | { readonly action: 'list' }
    | { readonly action: 'add'; readonly id: string }
    | { readonly action: 'plan'; readonly id: string; readonly plan: Plan }
  )

/** Lists or adds projects in a data folder or a database, or changes the plan of one. Returns the text for stdout. */
export function runProjects(command: ProjectsCommand): Promise<string> {
  return inTables(command, async ({ projects }) => {
    const { json } = command
    if (command.action === 'list') {
      return listed(await allOf(projects), {
        json,
        head: ['id', 'plan'],
        cells: (project) => [project.id, planOf(project)],
      })
    }
    const { action, id } = command
    const project = await (action === 'add' ? projects.add(id) : projects.changePlan(id, command.plan))
    if (project === undefined) {
      const place = placeOf(command)
      throw new Error(
        action === 'add' ? `there is a project ${id} in ${place} already` : `there is no project ${id} in ${place}`,
      )
    }
    return json ? `${JSON.stringify(project)}\n` : `Project ${id} has a plan ${planOf(project)}.\n`
  })
}

async function allOf(projects: ProjectStorage): Promise<readonly Project[]> {
  return (await projects.page({ offset: 0, limit: Number.MAX_SAFE_INTEGER })).list
}

function planOf({ plan }: Project): string {
  return plan.content ? 'with content' : 'without content'
}
