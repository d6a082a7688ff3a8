import type { Plan, Project } from '../schemas/projects.js'

export interface ProjectStorage {
  find(id: string): Promise<Project | undefined>
  /** A new project with a plan that allows everything; `undefined` when there is one with this id already. */
  add(id: string): Promise<Project | undefined>
  /** `undefined` when there is no such project. */
  changePlan(id: string, plan: Plan): Promise<Project | undefined>
}
