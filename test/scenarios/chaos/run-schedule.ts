import { type Dirent, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as passed } from 'node:timers/promises'
import { scanLines } from '../../../src/spool/line-scanner.js'
import { readSpoolLine } from '../../../src/spool/spool-line.js'
import { Disk } from '../../support/disk.js'
import { seeded } from '../../support/seeded.js'
import { Application, type ApplicationPlan } from './application.js'
import { ChaosServer, chaosKey } from './chaos-server.js'
import { type Life, Oracle, type Verdict, ways } from './oracle.js'
import { type Replayed, replay } from './replay.js'
import { type Disturbance, quickOptions, type Schedule, type Step, serverFaults } from './schedule.js'

export interface Report extends Verdict {
  /** Faults and disturbances that took effect. */
  readonly fired: readonly string[]
  readonly records: number
}

const dayMs = 86_400_000

/** Runs the faults of the schedule, ends them, and asks the oracle. */
export async function runSchedule(schedule: Schedule): Promise<Report> {
  const weather = new Weather(schedule)
  await using _ = await weather.begin()
  for (const step of schedule.steps) await weather.suffer(step)
  return await weather.settle()
}

class Weather {
  readonly #schedule: Schedule
  readonly #random: () => number
  readonly #oracle = new Oracle()
  readonly #disk = new Disk()
  readonly #lives: Life[] = []
  readonly #fired: string[] = []
  #server!: ChaosServer
  #application!: Application

  constructor(schedule: Schedule) {
    this.#schedule = schedule
    this.#random = seeded(schedule.seed ^ 0x5f3759df)
  }

  async begin(): Promise<AsyncDisposable> {
    const identify = (path: string, body: string) => this.#oracle.identify(path, body)
    this.#server = await ChaosServer.start({ identify, random: this.#random })
    this.#application = await this.#live()
    return {
      [Symbol.asyncDispose]: async () => {
        if (this.#application.alive) await this.#application.kill()
        await this.#server.close()
        this.#disk.close()
      },
    }
  }

  async suffer(step: Step): Promise<void> {
    await this.#server.set(serverFaults[step.fault], step.share)
    const trouble = beforeLife[step.disturbance]
    if (trouble !== undefined && this.#possible(step.disturbance)) {
      await this.#application.end('SIGTERM')
      this.#application = await this.#live({ ...trouble(this.#disk), troubledDisk: true })
    }
    const bursts = Promise.all(
      ways.map((way) => this.#application.log(way, { first: this.#oracle.mint(way, step.burst), count: step.burst })),
    )
    await exactly(step.afterMicroseconds)
    if (this.#possible(step.disturbance)) {
      await this.#disturb(step.disturbance, bursts)
      this.#fired.push(step.disturbance)
    }
    await bursts
    if (this.#server.hits > 0) this.#fired.push(step.fault)
    if (!this.#application.alive) this.#application = await this.#live()
  }

  /** Ends all faults. The heir delivers the spool, and new records arrive. */
  async settle(): Promise<Report> {
    await this.#server.set(undefined)
    if (this.#application.alive) await this.#application.end('SIGTERM')
    this.#application = await this.#live()
    const fresh = ways.map((way) => ({ way, first: this.#oracle.mint(way, 1), count: 1 }))
    if (this.#schedule.heir === 'a new process') {
      await until('the new process has adopted what the dead ones left', () =>
        this.#holders().every((pid) => pid === this.#application.pid),
      )
    }
    await Promise.all(fresh.map(({ way, ...range }) => this.#application.log(way, range)))
    await this.#application.end('natural')
    const replayed = await replay(this.#disk.folder, this.#server.url)
    const verdict = this.#oracle.verdict({
      lives: this.#lives,
      taken: this.#server.taken,
      refused: this.#server.refused,
      deadLetters: this.#deadLetters(),
    })
    const violations = [...verdict.violations]
    if (replayed.code !== 0 && !this.#isTorn(replayed))
      violations.push(`sluice replay ended with ${replayed.code}: ${replayed.said}`)
    const arrived = new Set(this.#server.taken.map(({ path, body }) => this.#oracle.identify(path, body)))
    for (const { way, first } of fresh)
      if (!arrived.has(first)) violations.push(`a fresh record of ${way} did not arrive`)
    const left = this.#folders().flatMap((name) =>
      entries(join(this.#disk.folder, name)).map((entry) => `${name}/${entry.name}`),
    )
    const astray = left.filter((path) => !path.endsWith('.damaged'))
    if (astray.length > 0) violations.push(`left on disk: ${astray}`)
    if (violations.length > 0) violations.push(...this.#lives.map(({ stderr }, life) => `life ${life} said: ${stderr}`))
    return { ...verdict, violations, fired: this.#fired, records: this.#oracle.minted }
  }

  /** True when all records that could be read were delivered. A SIGKILL may have torn the line that was being written. */
  #isTorn({ code, counts }: Replayed): boolean {
    const mayTear = this.#lives.some(({ killedAt, troubledDisk }) => killedAt !== undefined || troubledDisk)
    return mayTear && code === 1 && counts !== undefined && counts.damaged > 0 && counts.delivered === counts.records
  }

  async #live(plan: Partial<ApplicationPlan> & { troubledDisk?: boolean } = {}): Promise<Application> {
    const application = await Application.start({ variables: this.#variables, ...plan })
    application.life.troubledDisk = plan.troubledDisk ?? false
    this.#lives.push(application.life)
    return application
  }

  get #variables(): Record<string, string> {
    return {
      SLUICE_URL: this.#server.url,
      SLUICE_API_KEY: chaosKey,
      SLUICE_BUCKET: 'chaos',
      SLUICE_SPOOL_DIR: this.#disk.folder,
      ...Object.fromEntries(Object.entries(quickOptions).map(([name, value]) => [variableOf(name), `${value}`])),
    }
  }

  #possible(disturbance: Disturbance): boolean {
    return this.#disk.mounted || (disturbance !== 'disk full' && disturbance !== 'read-only folder')
  }

  async #disturb(disturbance: Disturbance, bursts: Promise<unknown>): Promise<void> {
    const application = this.#application
    switch (disturbance) {
      case 'SIGKILL':
        return application.kill()
      case 'SIGSTOP and SIGCONT':
        application.signal('SIGSTOP')
        await passed(100 + this.#random() * 300)
        application.signal('SIGCONT')
        return
      case 'SIGTERM':
        return application.end('SIGTERM')
      case 'process.exit()':
        return application.end('exit')
      case 'uncaught exception':
        return application.end('throw')
      case 'natural end':
        return application.end('natural')
      case 'clock a day forward':
      case 'clock a day back':
        application.jumpClock(disturbance === 'clock a day back' ? -dayMs : dayMs)
        return
      case 'two processes on one folder': {
        const other = await this.#live()
        const burst = Math.ceil(this.#random() * 100)
        await Promise.all(ways.map((way) => other.log(way, { first: this.#oracle.mint(way, burst), count: burst })))
        if (this.#random() < 0.5) await other.kill()
        else await other.end('natural')
        return
      }
      case 'disk full':
        application.life.troubledDisk = true
        this.#disk.fill()
        await bursts
        if (this.#random() < 0.5) await application.end('SIGTERM')
        this.#disk.free()
        return
      case 'folder deleted':
        application.life.troubledDisk = true
        this.#disk.deleteFolder()
        for (const life of this.#lives) life.deleted = true
        await bursts
        return application.end('SIGTERM')
      case 'read-only folder':
      case 'ulimit -f':
        await bursts
        await application.end('natural')
        if (disturbance === 'read-only folder') this.#disk.readOnly(false)
    }
  }

  /** Folders of engines that are on disk. */
  #folders(): string[] {
    return entries(this.#disk.folder).flatMap((entry) =>
      entry.isDirectory() && /^\w{8}-/.test(entry.name) ? [entry.name] : [],
    )
  }

  /** Process ids of those that hold the folders. */
  #holders(): number[] {
    return this.#folders().map((name) => {
      const folder = join(this.#disk.folder, name)
      const locks = entries(folder).filter(({ name }) => name.startsWith('lock-'))
      const last = locks.toSorted((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true })).at(-1)
      try {
        return (JSON.parse(readFileSync(join(folder, last!.name), 'utf8')) as { pid: number }).pid
      } catch {
        // The folder is gone since, or has no holder.
        return 0
      }
    })
  }

  #deadLetters(): ReadonlySet<number> {
    const folder = join(this.#disk.folder, 'dead-letter')
    const numbers = entries(folder).flatMap(({ name }) => {
      // A full disk may have left half a line.
      const { lines } = scanLines(readFileSync(join(folder, name)), readSpoolLine)
      return lines.map(({ line: { kind, body } }) =>
        this.#oracle.identify(kind === 'logs' ? '/logs/chaos' : '/value_tracking/chaos', body),
      )
    })
    return new Set(numbers.filter((id) => id !== undefined))
  }
}

/** The fault of the disk that must be there before a process starts. */
const beforeLife: Partial<Record<Disturbance, (disk: Disk) => { maxFileBlocks?: number }>> = {
  'read-only folder': (disk) => {
    disk.readOnly(true)
    return {}
  },
  'ulimit -f': () => ({ maxFileBlocks: 16 }),
}

function variableOf(option: string): string {
  return `SLUICE_${option.replace(/[A-Z]/g, '_$&').toUpperCase()}`
}

/** Empty where the folder is gone: its holder may delete it at any moment. */
function entries(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** Polls for a minute at most. */
async function until(what: string, holds: () => boolean): Promise<void> {
  const end = performance.now() + 60_000
  while (!holds()) {
    if (performance.now() > end) throw new Error(`not in a minute: ${what}`)
    await passed(20)
  }
}

/** Busy-waits for the part that a timer cannot measure: timers are exact to a millisecond. */
async function exactly(microseconds: number): Promise<void> {
  const end = process.hrtime.bigint() + BigInt(microseconds) * 1000n
  await passed(Math.max(0, microseconds / 1000 - 2))
  while (process.hrtime.bigint() < end);
}
