import type { Paged } from '../schemas/envelopes.js'
import type { Plan, Project } from '../schemas/projects.js'
import type { Page } from './content-storage.js'
import type { ProjectStorage } from './storage.js'

interface Known {
  readonly project: Project
  readonly atMs: number
}

/** Caches projects: there are few, and every record needs one. */
export class KnownProjects implements ProjectStorage {
  readonly #projects: ProjectStorage
  readonly #knownMs: number
  readonly #known = new Map<string, Known>()

  /** @param knownMs time after which a project is read again, in ms; needed where another process may change it */
  constructor(projects: ProjectStorage, knownMs = Number.POSITIVE_INFINITY) {
    this.#projects = projects
    this.#knownMs = knownMs
  }

  async find(id: string): Promise<Project | undefined> {
    const known = this.#known.get(id)
    if (known !== undefined && performance.now() - known.atMs < this.#knownMs) return known.project
    const atMs = performance.now()
    try {
      return this.#remember(await this.#projects.find(id), atMs)
    } catch (error) {
      // A database that is away for a while changes no plans.
      if (known !== undefined) return known.project
      throw error
    }
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

  #remember(project: Project | undefined, atMs = performance.now()): Project | undefined {
    if (project !== undefined) this.#known.set(project.id, { project, atMs })
    return project
  }
}
