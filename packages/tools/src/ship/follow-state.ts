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
  /** By the path of the log. */
  readonly logs: Readonly<Record<string, KnownLog>>
}

/** The file of `--state`: the places up to which the lines of logs are settled. */
export class FollowState {
  readonly #path: string
  #logs: Content['logs']
  #saving: Promise<void> = Promise.resolve()

  private constructor(path: string, logs: Content['logs']) {
    this.#path = path
    this.#logs = logs
  }

  /** Read a state. A file that is not there is a state without logs. @throws a text for people: the file is none, or cannot be read */
  static open(path: string): FollowState {
    let text: string
    try {
      text = readFileSync(path, 'utf8')
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      if (code === 'ENOENT') return new FollowState(path, {})
      throw new Error(`--state: cannot read ${path}: ${message}`)
    }
    const content = contentOf(text)
    if (content !== undefined) return new FollowState(path, content.logs)
    throw new Error(
      `--state: expected a file that --state has made, and ${basename(path)} is none: remove it, or name another one`,
    )
  }

  /** Undefined for a log that was never followed. */
  of(log: string): KnownLog | undefined {
    return Object.hasOwn(this.#logs, log) ? this.#logs[log] : undefined
  }

  /** Replace what is known of these logs, and the file. A process that is killed meanwhile leaves the one before. Rejects with the error of the file system. */
  save(logs: Readonly<Record<string, KnownLog>>): Promise<void> {
    this.#logs = { ...this.#logs, ...logs }
    const content: Content = { version: 1, logs: this.#logs }
    const saved = this.#saving.then(() => this.#save(content))
    this.#saving = saved.catch(() => {})
    return saved
  }

  async #save(content: Content): Promise<void> {
    const written = `${this.#path}.new`
    const file = await open(written, 'w', 0o600)
    try {
      await file.writeFile(`${JSON.stringify(content)}\n`)
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
    return content.version === 1 && isWhole ? content : undefined
  } catch {
    return undefined
  }
}

function isPlace({ identity, generation, position, witness }: Place): boolean {
  const areTexts = [identity, generation, witness].every((each) => typeof each === 'string')
  return areTexts && Number.isSafeInteger(position) && position >= 0
}
