import { spawn } from 'node:child_process'
import { cpSync, renameSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type Running, runningOf } from './programs.js'
import { inheritedVariables, Project, pack } from './project.js'

const root = join(import.meta.dirname, '../..')
const examples = join(root, 'examples/frameworks')
const standIn = join(root, 'test/fixtures/without-sluice')

/** An example of examples/frameworks in a folder of its own, as a user copies it. */
export class FrameworkExample {
  readonly project: Project

  private constructor(project: Project) {
    this.project = project
  }

  /** Copy it, with the packed library beside it. Nothing is installed. */
  static async copy(name: string): Promise<{ readonly example: FrameworkExample; readonly tarball: string }> {
    const project = new Project()
    const isSource = (path: string) => !/[\\/](node_modules|dist)$/.test(path)
    cpSync(join(examples, name), project.folder, { recursive: true, filter: isSource })
    const { tarball } = await pack('.', project.folder)
    return { example: new FrameworkExample(project), tarball }
  }

  /** Copy it, install the packed library and its exact packages by npm, and build it if it has a script `build`. */
  static async install(name: string): Promise<FrameworkExample> {
    const { example, tarball } = await FrameworkExample.copy(name)
    await example.project.install(tarball)
    if (example.#scripts.build !== undefined) await example.runScript('build')
    return example
  }

  /** Run something while a package that does nothing stands for Sluice in the installed example. */
  async withoutSluice<T>(run: () => Promise<T>): Promise<T> {
    const library = join(this.project.folder, 'node_modules/sluice')
    const aside = join(this.project.folder, 'sluice')
    renameSync(library, aside)
    cpSync(standIn, library, { recursive: true })
    try {
      return await run()
    } finally {
      rmSync(library, { recursive: true })
      renameSync(aside, library)
    }
  }

  /** Start a script of its package.json, without npm between. It is killed at the end of the test. */
  start(script: string, variables: Readonly<Record<string, string>> = {}): Running {
    const child = spawn('/bin/sh', ['-c', `exec ${this.#scripts[script]}`], {
      cwd: this.project.folder,
      env: this.#variables(variables),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    return runningOf(child)
  }

  /** Run a script of its package.json to its end. Returns what it has printed. */
  async runScript(script: string, variables: Readonly<Record<string, string>> = {}): Promise<string> {
    const command = ['-c', this.#scripts[script]!]
    const { code, stdout, stderr } = await this.project.run('/bin/sh', command, this.#variables(variables))
    if (code !== 0) throw new Error(`${script} ended with ${code}: ${stdout}${stderr}`)
    return stdout + stderr
  }

  remove(): void {
    this.project.remove()
  }

  get #scripts(): Readonly<Record<string, string>> {
    return JSON.parse(this.project.read('package.json')).scripts
  }

  #variables(own: Readonly<Record<string, string>>): Record<string, string> {
    const inherited = inheritedVariables()
    const path = [join(this.project.folder, 'node_modules/.bin'), inherited.PATH].join(delimiter)
    return { ...inherited, ...own, PATH: path }
  }
}
