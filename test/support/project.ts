import { execFile } from 'node:child_process'
import { cpSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'

const root = join(import.meta.dirname, '../..')

/** The output of a program and its exit code. */
export interface Printed {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A file of `npm pack`. */
export interface PackedFile {
  readonly path: string
  readonly mode: number
  readonly size: number
}

/** A folder outside this repository, in which packages are installed as an application installs them. */
export class Project {
  readonly folder = mkdtempSync(join(tmpdir(), 'sluice-project-'))

  constructor(manifest: Readonly<Record<string, unknown>> = {}) {
    this.write('package.json', JSON.stringify({ private: true, ...manifest }))
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.folder, path)), { recursive: true })
    writeFileSync(join(this.folder, path), text)
  }

  read(path: string): string {
    return readFileSync(join(this.folder, path), 'utf8')
  }

  /** Everything below node_modules that is a file, with its apparent size. */
  installed(): { readonly path: string; readonly bytes: number }[] {
    const below = readdirSync(join(this.folder, 'node_modules'), { recursive: true, encoding: 'utf8' })
    return below
      .map((path) => ({ path, state: lstatSync(join(this.folder, 'node_modules', path)) }))
      .filter(({ state }) => !state.isDirectory())
      .map(({ path, state }) => ({ path, bytes: state.size }))
  }

  /** `npm install`. Returns the warnings of npm. */
  async install(...packages: string[]): Promise<string[]> {
    const options = ['--prefer-offline', '--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=warn']
    const { code, stderr } = await this.npm('install', ...options, ...packages)
    if (code !== 0) throw new Error(`npm install ${packages.join(' ')} ended with ${code}: ${stderr}`)
    return stderr.split('\n').filter((line) => line !== '')
  }

  npm(...written: string[]): Promise<Printed> {
    return this.run('npm', written)
  }

  node(...written: string[]): Promise<Printed> {
    return this.run(process.execPath, written)
  }

  /** Runs a program in the folder, with these variables and none of Sluice, of a test runner, or of npm. */
  run(command: string, written: readonly string[], variables: Readonly<Record<string, string>> = {}): Promise<Printed> {
    return run(command, written, { folder: this.folder, variables })
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** Written by npm, the build or git: a fresh clone has none of it. */
const isAbsent = (path: string) =>
  ['node_modules', 'dist'].includes(basename(path)) ||
  ['.git', 'build', 'site', 'release', 'coverage'].includes(relative(root, path))

/** What a fresh clone of this repository has, in this folder. */
export function cloneTo(folder: string): void {
  cpSync(root, folder, { recursive: true, filter: (path) => !isAbsent(path) })
}

/** `npm pack` of a workspace that is built. Returns the tarball and the list of its files. */
export async function pack(
  workspace: string,
  destination: string,
): Promise<{ readonly tarball: string; readonly files: readonly PackedFile[] }> {
  const written = ['pack', '--json', '--ignore-scripts', '--pack-destination', destination]
  const { code, stdout, stderr } = await run('npm', written, { folder: join(root, workspace) })
  if (code !== 0) throw new Error(`npm pack ended with ${code}: ${stderr}`)
  const [packed] = JSON.parse(stdout) as { filename: string; files: PackedFile[] }[]
  if (packed === undefined) throw new Error(`npm pack: ${stdout}`)
  return { tarball: join(destination, packed.filename), files: packed.files }
}

/** Warnings of npm about the configuration of this machine. */
const ofThisMachine = /^npm warn Unknown \w+ config .*\n/gm

/** Variables that npm sets for its scripts, except those for reaching the registry. */
const inherited =
  /^(?!SLUICE_|OTEL_|DD_|NODE_ENV$|NODE_OPTIONS$|VITEST|npm_)|^npm_config_(registry|cache|cafile|.*proxy|userconfig)$/i

/** The variables of a program that runs as in a terminal of its own: none of Sluice, of a test runner, or of npm's scripts. */
export function inheritedVariables(): Record<string, string> {
  const known = Object.entries(process.env).filter(([name]) => inherited.test(name))
  return Object.fromEntries(known) as Record<string, string>
}

function run(
  command: string,
  written: readonly string[],
  { folder, variables = {} }: { readonly folder: string; readonly variables?: Readonly<Record<string, string>> },
): Promise<Printed> {
  const env = inheritedVariables()
  return new Promise((resolve) => {
    const child = execFile(
      command,
      written,
      { cwd: folder, env: { ...env, ...variables }, maxBuffer: 2 ** 26 },
      (_, stdout, stderr) => resolve({ code: child.exitCode, stdout, stderr: stderr.replace(ofThisMachine, '') }),
    )
  })
}
