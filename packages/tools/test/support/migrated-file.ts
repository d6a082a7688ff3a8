import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { ContentRequest } from '../../../../test/support/content-server.js'
import { type Ended, type Running, startProgram } from '../../../../test/support/programs.js'

export interface Reject {
  readonly line: number
  readonly reasons: readonly string[]
  readonly code?: string
  readonly status?: number
  readonly correlationId?: string
  readonly mayHaveArrived?: true
  readonly text: string | null
}

/** A file of lines in a folder of its own, and the program that migrates it. */
export class MigratedFile {
  readonly path = join(mkdtempSync(join(tmpdir(), 'sluice-migrate-')), 'articles.ndjson')
  /** Key of the content type. */
  type = 'article'
  readonly #variables: Record<string, string>

  constructor(variables: Record<string, string>, lines: readonly (string | object)[]) {
    onTestFinished(() => rmSync(dirname(this.path), { recursive: true }))
    this.#variables = variables
    this.write(lines)
  }

  write(lines: readonly (string | object)[]): void {
    const texts = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)))
    writeFileSync(this.path, texts.map((text) => `${text}\n`).join(''))
  }

  start(options: readonly string[] = [], flags: readonly string[] = []): Running {
    return startProgram(join(import.meta.dirname, '../../bin/sluice-tools.js'), {
      arguments: ['migrate', this.path, '--project', 'demo', '--type', this.type, ...options],
      variables: this.#variables,
      flags,
    })
  }

  /** Without the lines that tell how far it is: they come when the machine is slow. */
  async run(...options: string[]): Promise<Ended> {
    const ended = await this.start(options).ended
    return { ...ended, stderr: ended.stderr.replace(/^\d+ %, .*\n/gm, '') }
  }

  get journalPath(): string {
    return `${this.path}.journal`
  }

  get journal(): string {
    return readFileSync(this.journalPath, 'utf8')
  }

  /** Undefined when there is no such file. */
  get rejects(): Reject[] | undefined {
    const path = `${this.path}.rejects.ndjson`
    if (!existsSync(path)) return undefined
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
    return lines.map((line) => JSON.parse(line) as Reject).sort((a, b) => a.line - b.line)
  }
}

/** Lines that are valid articles: `title 1`, `title 2` and so on. */
export function articles(count: number): object[] {
  return titlesOf(count).map((title) => ({ fields: { title } }))
}

/** The titles of such lines. */
export function titlesOf(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `title ${index + 1}`)
}

export function sorted(values: readonly unknown[]): unknown[] {
  return [...values].sort()
}

export function titleOf({ body }: ContentRequest): string {
  return (JSON.parse(body) as { fields: { title: string } }).fields.title
}
