import { execFileSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Debian's folder: it has one folder per version. */
const versions = '/usr/lib/postgresql'
const newest = existsSync(versions)
  ? readdirSync(versions)
      .filter((name) => existsSync(join(versions, name, 'bin/initdb')))
      .sort((a, b) => Number(b) - Number(a))[0]
  : undefined

/** True when PostgreSQL is installed. Otherwise a message says that its tests are skipped. */
export const postgresInstalled = newest !== undefined
if (!postgresInstalled) {
  process.stderr.write('\nPostgreSQL is not installed: ITS TESTS ARE SKIPPED (apt-get install postgresql)\n\n')
}

/** Title of tests with PostgreSQL: it says why they are skipped. */
export function withPostgres(title: string): string {
  return postgresInstalled ? title : `${title} (skipped: PostgreSQL is not installed)`
}

export function binary(name: 'initdb' | 'postgres' | 'pg_basebackup'): string {
  return join(versions, newest!, 'bin', name)
}

/** PostgreSQL does not run as root. Then its own user runs it. */
const owner = process.getuid?.() === 0 && postgresInstalled ? userNamed('postgres') : undefined

/** Options of a process of PostgreSQL. */
export const asOwner = { ...owner, cwd: '/' }

/** Makes an empty folder that belongs to PostgreSQL. */
export function ownedFolder(prefix: string): string {
  const folder = mkdtempSync(join(tmpdir(), prefix))
  if (owner !== undefined) chownSync(folder, owner.uid, owner.gid)
  return folder
}

/** Makes the data of a new cluster. The superuser is `postgres`, and everybody on this machine may be it. */
export function newData(folder: string): void {
  execFileSync('cp', ['-a', `${template()}/.`, folder], asOwner)
}

/** The data of a new cluster, made once per machine: `initdb` takes a second or more. */
function template(): string {
  const folder = join(tmpdir(), `sluice-postgres-${newest}-${owner?.uid ?? process.getuid?.()}`)
  if (existsSync(folder)) return folder
  const made = ownedFolder('sluice-postgres-template-')
  const settings = ['--auth=trust', '--username=postgres', '--encoding=UTF8', '--locale=C.UTF-8', '--no-sync']
  execFileSync(binary('initdb'), [...settings, '-D', made], { ...asOwner, stdio: ['ignore', 'ignore', 'inherit'] })
  try {
    renameSync(made, folder)
  } catch (error) {
    // Another process was faster.
    rmSync(made, { recursive: true })
    if (!existsSync(folder)) throw error
  }
  return folder
}

function userNamed(name: string): { readonly uid: number; readonly gid: number } {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((each) => each.startsWith(`${name}:`))
  const [, , uid, gid] = line!.split(':')
  return { uid: Number(uid), gid: Number(gid) }
}
