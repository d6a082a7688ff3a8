import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { FinalLedger, Life, Way } from './oracle.js'

export interface ApplicationPlan {
  readonly variables: Record<string, string>
  /** Limit on the size of a file it may write, in blocks of 512 bytes (`ulimit -f`). */
  readonly maxFileBlocks?: number
}

/** A process that logs on command, in three ways. It can be interrupted and killed. */
export class Application {
  readonly life: Life = { accepted: new Map(), troubledDisk: false }
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>
  readonly #ended: Promise<void>
  readonly #stderr: Promise<string>
  /** Unfinished bursts, by the number of their first record. */
  readonly #bursts = new Map<number, () => void>()
  #ready = () => {}

  private constructor({ variables, maxFileBlocks }: ApplicationPlan) {
    const fixtures = join(import.meta.dirname, '../../fixtures')
    const node = [process.execPath, join(fixtures, 'chaos-application.js')]
    const command =
      maxFileBlocks === undefined ? node : ['sh', '-c', `ulimit -f ${maxFileBlocks}; exec "$@"`, 'sh', ...node]
    this.#child = spawn(command[0]!, command.slice(1), {
      env: {
        PATH: process.env.PATH,
        NODE_OPTIONS: `--require ${join(fixtures, 'jump.cjs')}`,
        SLUICE_DEBUG: '1',
        ...variables,
      },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    this.#child.stdin.on('error', () => {})
    this.#stderr = text(this.#child.stderr)
    const lines = createInterface({ input: this.#child.stdout }).on('line', (line) => this.#hear(line))
    this.#ended = Promise.all([once(this.#child, 'close'), once(lines, 'close')]).then(async () => {
      for (const over of this.#bursts.values()) over()
      this.#ready()
      // Without the options that SLUICE_DEBUG shows at the start.
      this.life.stderr = (await this.#stderr).replace(/^sluice: \w+=.* \([\w.]+\)\n/gm, '')
      if (this.life.killedAt === undefined) this.life.ledger = finalLedger(this.life.stderr)
    })
  }

  /** Resolves when the process is ready to log. */
  static async start(plan: ApplicationPlan): Promise<Application> {
    const application = new Application(plan)
    await new Promise<void>((resolve) => {
      application.#ready = resolve
    })
    return application
  }

  get pid(): number {
    return this.#child.pid!
  }

  get alive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Logs these records. Resolves when all calls have returned or the process has ended. */
  log(way: Way, { first, count }: { first: number; count: number }): Promise<void> {
    if (!this.alive) return Promise.resolve()
    return new Promise((resolve) => {
      this.#bursts.set(first, resolve)
      this.#say(`log ${way} ${first} ${count}`)
    })
  }

  jumpClock(milliseconds: number): void {
    this.#say(`jump ${milliseconds}`)
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  async kill(): Promise<void> {
    // Records that it accepts between this moment and its death are later than the kill.
    this.life.killedAt = process.hrtime.bigint()
    this.#child.kill('SIGKILL')
    await this.#ended
  }

  /** Ends the application without a SIGKILL. */
  async end(how: 'natural' | 'exit' | 'throw' | 'SIGTERM'): Promise<void> {
    if (how === 'natural') this.#child.stdin.end()
    else if (how === 'SIGTERM') this.#child.kill(how)
    else this.#say(how)
    await this.#ended
  }

  #say(line: string): void {
    this.#child.stdin.write(`${line}\n`)
  }

  #hear(line: string): void {
    const [what, number, at] = line.split(' ')
    if (what === 'ready') this.#ready()
    else if (what === 'accepted') this.life.accepted.set(Number(number), BigInt(at!))
    else if (what === 'logged') {
      this.#bursts.get(Number(number))?.()
      this.#bursts.delete(Number(number))
    }
  }
}

/** The sum of all engines of the process, as SLUICE_DEBUG prints them. */
function finalLedger(stderr: string): FinalLedger | undefined {
  const lines = stderr.split('\n').filter((line) => line.startsWith('sluice: ledger '))
  if (lines.length === 0) return undefined
  const sum: Record<string, number> = {}
  for (const [, name, count] of lines.join(' ').matchAll(/(\w+)=(\d+)/g)) sum[name!] = (sum[name!] ?? 0) + Number(count)
  const { accepted = 0, delivered = 0, rejected = 0, dropped = 0, spooled = 0, ambiguous = 0 } = sum
  const { queued = 0, inFlight = 0, adopted = 0 } = sum
  const givenUp = dropped + queued + inFlight
  return {
    accepted: accepted - adopted,
    adopted,
    dropped,
    givenUp,
    rejected,
    spooled,
    ambiguous,
    imbalance: accepted - delivered - rejected - spooled - givenUp,
  }
}
