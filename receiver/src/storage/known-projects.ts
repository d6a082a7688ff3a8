import type { Paged } from '../schemas/envelopes.js'
import type { Plan, Project } from '../schemas/projects.js'
import type { Page } from './content-storage.js'
import type { ProjectStorage } from './storage.js'

/** Caches projects: there are few, and every record needs one. Correct only while one receiver uses the store. */
export class KnownProjects implements ProjectStorage {
  readonly #projects: ProjectStorage
  readonly #known = new Map<string, Project>()

  constructor(projects: ProjectStorage) {
    this.#projects = projects
  }

  async find(id: string): Promise<Project | undefined> {
    return this.#known.get(id) ?? this.#remember(await this.#projects.find(id))
  }

  list(): Promise<readonly string[]> {
    return this.#projects.list()
  }

  page(page: Page): Promise<Paged<Project>> {
    return this.#projects.page(page)
  }

  async add(id: string): Promise<Project | undefined> {
    return this.#remember(await this.#projects.add(id))
  }

  async changePlan(id: string, plan: Plan): Promise<Project | undefined> {
    return this.#remember(await this.#projects.changePlan(id, plan))
  }

  #remember(project: Project | undefined): Project | undefined {
    if (project !== undefined) this.#known.set(project.id, project)
    return project
  }
}
