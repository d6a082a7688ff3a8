import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Place } from './open-log.js'

/** What is known of a log that was followed before. */
export interface KnownLog {
  /** When the places were taken, in milliseconds since 1970. */
  readonly at: number
  /** Of the file with the name of the log, and of the files that have had the name before. */
  readonly places: readonly Place[]
}

interface Content {
  readonly version: 1
  /** Unlike that of any other state. */
  readonly id: string
  /** By the path of the log. */
  readonly logs: Readonly<Record<string, KnownLog>>
}

/** The file of `--state`: the places up to which the lines of logs are settled. */
export class FollowState {
  readonly #path: string
  readonly #content: Content
  #saving: Promise<void> = Promise.resolve()

  private constructor(path: string, content: Content) {
    this.#path = path
    this.#content = content
  }

  /** Read a state. A file that is not there is a state without logs. @throws a text for people: the file is none, or cannot be read */
  static open(path: string): FollowState {
    let text: string
    try {
      text = readFileSync(path, 'utf8')
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      if (code === 'ENOENT') return new FollowState(path, { version: 1, id: randomUUID(), logs: {} })
      throw new Error(`--state: cannot read ${path}: ${message}`)
    }
    const content = contentOf(text)
    if (content !== undefined) return new FollowState(path, content)
    throw new Error(
      `--state: expected a file that --state has made, and ${basename(path)} is none: remove it, or name another one`,
    )
  }

  get id(): string {
    return this.#content.id
  }

  /** Undefined for a log that was never followed. */
  of(log: string): KnownLog | undefined {
    return Object.hasOwn(this.#content.logs, log) ? this.#content.logs[log] : undefined
  }

  /** Replace the file. A process that is killed meanwhile leaves the one before. Rejects with the error of the file system. */
  save(logs: Readonly<Record<string, KnownLog>>): Promise<void> {
    const saved = this.#saving.then(() => this.#save(logs))
    this.#saving = saved.catch(() => {})
    return saved
  }

  async #save(logs: Readonly<Record<string, KnownLog>>): Promise<void> {
    const written = `${this.#path}.new`
    const file = await open(written, 'w', 0o600)
    try {
      await file.writeFile(`${JSON.stringify({ ...this.#content, logs: { ...this.#content.logs, ...logs } })}\n`)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(written, this.#path)
  }
}

function contentOf(text: string): Content | undefined {
  try {
    const content = JSON.parse(text) as Content
    const logs = Object.values(content.logs)
    const isWhole = logs.every(({ at, places }) => typeof at === 'number' && places.every(isPlace))
    return content.version === 1 && typeof content.id === 'string' && isWhole ? content : undefined
  } catch {
    return undefined
  }
}

function isPlace({ identity, position, witness }: Place): boolean {
  return typeof identity === 'string' && Number.isSafeInteger(position) && position >= 0 && typeof witness === 'string'
}
