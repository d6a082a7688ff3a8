import type { Paged } from '../schemas/envelopes.js'
import type { Plan, Project } from '../schemas/projects.js'
import type { Page } from './content-storage.js'
import type { ProjectStorage } from './storage.js'

/** Projects that are read again at once. */
const pageSize = 1000

/** Caches projects: there are few, and every record needs one. */
export class KnownProjects implements ProjectStorage {
  readonly #projects: ProjectStorage
  readonly #known = new Map<string, Project>()
  #changes = 0

  constructor(projects: ProjectStorage) {
    this.#projects = projects
  }

  async find(id: string): Promise<Project | undefined> {
    return this.#known.get(id) ?? this.#remember(await this.#projects.find(id))
  }

  /** Reads the projects again: another process may have changed their plans. Until then what is known counts. */
  async renew(): Promise<void> {
    const changes = this.#changes
    for (let offset = 0; ; offset += pageSize) {
      const { list } = await this.#projects.page({ offset, limit: pageSize })
      // A plan that this process changes meanwhile is newer than the one that was read.
      if (this.#changes !== changes) return
      for (const project of list) this.#known.set(project.id, project)
      if (list.length < pageSize) return
    }
  }

  list(): Promise<readonly string[]> {
    return this.#projects.list()
  }

  page(page: Page): Promise<Paged<Project>> {
    return this.#projects.page(page)
  }

  async add(id: string): Promise<Project | undefined> {
    return this.#changed(await this.#projects.add(id))
  }

  async changePlan(id: string, plan: Plan): Promise<Project | undefined> {
    return this.#changed(await this.#projects.changePlan(id, plan))
  }

  #changed(project: Project | undefined): Project | undefined {
    this.#changes++
    return this.#remember(project)
  }

  #remember(project: Project | undefined): Project | undefined {
    if (project !== undefined) this.#known.set(project.id, project)
    return project
  }
}
