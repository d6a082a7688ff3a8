import { signal } from '@preact/signals'
import type { LogErrors } from '../../src/client/log-errors.js'
import { Recount } from '../api/recount.js'
import { isAborted, messageOf, request } from '../api/requests.js'
import { momentOf } from '../view/times.js'

/** What is asked for. */
export interface ErrorQuestion {
  readonly bucket: string
  /** As the address writes it. */
  readonly since: string | undefined
  readonly app: string | undefined
  readonly env: string | undefined
}

/** The errors of a bucket by kind. They are counted again a while after records have arrived. */
export class ErrorCounts {
  /** Undefined until the first answer is there. */
  readonly answer = signal<LogErrors | undefined>(undefined)
  readonly problem = signal<string | undefined>(undefined)
  #bucket = ''
  readonly #recount = new Recount()

  load(question: ErrorQuestion): void {
    if (question.bucket !== this.#bucket) this.answer.value = undefined
    this.#bucket = question.bucket
    this.#recount.begin((signal) => this.#ask(question, signal))
  }

  recordsArrived(): void {
    this.#recount.recordsArrived()
  }

  end(): void {
    this.#recount.end()
  }

  async #ask({ bucket, since, app, env }: ErrorQuestion, signal: AbortSignal): Promise<void> {
    const query = new URLSearchParams()
    const from = momentOf(since, Date.now())
    if (from !== undefined) query.set('since', new Date(from).toISOString())
    if (app !== undefined) query.set('app', app)
    if (env !== undefined) query.set('env', env)
    try {
      this.answer.value = await request<LogErrors>(`/api/logs/${encodeURIComponent(bucket)}/errors?${query}`, {
        signal,
      })
      this.problem.value = undefined
    } catch (error) {
      if (isAborted(error)) throw error
      this.problem.value = messageOf(error)
    }
  }
}
