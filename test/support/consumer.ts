import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type Printed, Project, pack } from './project.js'

const root = join(import.meta.dirname, '../..')
const programs = join(root, 'test/fixtures/consumers')

/** How an application in TypeScript is set up. */
export interface ConsumerKind {
  readonly type: 'module' | 'commonjs'
  readonly compilerOptions: Readonly<Record<string, unknown>>
}

/** Set-ups, by the names that tests show. */
export const consumerKinds = {
  'nodenext, ES modules': { type: 'module', compilerOptions: { module: 'nodenext' } },
  'nodenext, CommonJS': { type: 'commonjs', compilerOptions: { module: 'nodenext' } },
  bundler: { type: 'module', compilerOptions: { module: 'esnext', moduleResolution: 'bundler' } },
  'commonjs, as before nodenext': {
    type: 'commonjs',
    compilerOptions: { module: 'commonjs', esModuleInterop: true },
  },
} as const satisfies Record<string, ConsumerKind>

/** In CommonJS files this refuses every import of an ES module. */
export const node16: ConsumerKind = { type: 'commonjs', compilerOptions: { module: 'node16' } }

/** The strictest settings. */
const strict = {
  target: 'es2022',
  lib: ['es2022'],
  types: ['node'],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: false,
  skipLibCheck: false,
  outDir: 'built',
  rootDir: '.',
}

/** An application in TypeScript that has the packed library, pino, winston and Node's types: programs of test/fixtures/consumers. */
export class Consumer {
  readonly #project = new Project()
  readonly #compilers: readonly string[]

  private constructor(compilers: readonly string[]) {
    this.#compilers = compilers
  }

  /** @param compilers versions of TypeScript, installed beside the one of this repository, which is called `own` */
  static async install(compilers: readonly string[]): Promise<Consumer> {
    const consumer = new Consumer(compilers)
    const { tarball } = await pack('.', consumer.#project.folder)
    const aliases = compilers.map((version) => `typescript-${version}@npm:typescript@~${version}.0`)
    expect(
      await consumer.#project.install(
        tarball,
        'pino@10',
        'winston@3',
        '@types/node@20',
        '--ignore-scripts',
        ...aliases,
      ),
    ).toEqual([])
    return consumer
  }

  /** The output of the compiler, line by line. */
  async compile(compiler: string, kind: ConsumerKind, names = ['application', 'mistakes']): Promise<string[]> {
    const { type, compilerOptions } = kind
    const folder = folderOf(compiler, kind)
    this.#project.write(`${folder}/package.json`, JSON.stringify({ private: true, type }))
    const config = { compilerOptions: { ...strict, ...compilerOptions }, files: names.map((name) => `${name}.ts`) }
    this.#project.write(`${folder}/tsconfig.json`, JSON.stringify(config))
    mkdirSync(join(this.#project.folder, folder), { recursive: true })
    for (const name of names) {
      copyFileSync(join(programs, `${name}.ts`), join(this.#project.folder, folder, `${name}.ts`))
    }
    const home = this.#compilers.includes(compiler)
      ? join(this.#project.folder, `node_modules/typescript-${compiler}`)
      : join(root, 'node_modules/typescript')
    const { code, stdout, stderr } = await this.#project.node(join(home, 'bin/tsc'), '-p', folder)
    const said = `${stdout}${stderr}`.split('\n').filter((line) => line !== '')
    return code === 0 ? said : [...said, `ended with ${code}`]
  }

  /** Run a program as it was compiled. */
  run(
    compiler: string,
    kind: ConsumerKind,
    variables: Readonly<Record<string, string>>,
    name = 'application',
  ): Promise<Printed> {
    const program = join(this.#project.folder, folderOf(compiler, kind), `built/${name}.js`)
    return this.#project.run(process.execPath, [program], variables)
  }

  remove(): void {
    this.#project.remove()
  }
}

function folderOf(compiler: string, { type, compilerOptions }: ConsumerKind): string {
  return `${compiler}-${type}-${String(compilerOptions.module)}`
}
