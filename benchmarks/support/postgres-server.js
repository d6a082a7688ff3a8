import { execFileSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.js'

const versions = '/usr/lib/postgresql'

/**
 * Start PostgreSQL with its defaults but for a cache of 1 GB, in a folder of its own, on a free port. `DATA` names a folder that is kept.
 *
 * @returns {Promise<{ url: (database: string) => string, create: (database: string) => void, stop: () => void }>}
 */
export async function startPostgres() {
  const [version] = existsSync(versions) ? readdirSync(versions).sort((a, b) => Number(b) - Number(a)) : []
  if (version === undefined) throw new Error('PostgreSQL is not installed: apt-get install postgresql')
  const program = (/** @type {string} */ name) => join(versions, version, 'bin', name)
  const owner = ownerOf()
  const run = (/** @type {string} */ name, /** @type {string[]} */ args) =>
    execFileSync(program(name), args, { ...owner, cwd: '/', stdio: ['ignore', 'ignore', 'inherit'] })

  const folder = process.env.DATA ?? mkdtempSync(join(tmpdir(), 'sluice-benchmark-'))
  if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid)
  const data = join(folder, 'data')
  if (!existsSync(data))
    run('initdb', ['-D', data, '--auth=trust', '--username=postgres', '--encoding=UTF8', '--locale=C.UTF-8'])
  const port = await freePort()
  const settings = `-p ${port} -k ${folder} -c shared_buffers=1GB -c max_wal_size=4GB`
  run('pg_ctl', ['-D', data, '-o', settings, '-l', join(folder, 'log'), '-w', 'start'])
  const stop = () => {
    process.off('exit', stop)
    run('pg_ctl', ['-D', data, '-m', 'fast', '-w', 'stop'])
    if (process.env.DATA === undefined) rmSync(folder, { recursive: true })
  }
  // A benchmark that fails leaves no server.
  process.once('exit', stop)
  return {
    url: (database) => `postgres://postgres@127.0.0.1:${port}/${database}`,
    create: (database) => {
      try {
        run('createdb', ['-h', '127.0.0.1', '-p', String(port), '-U', 'postgres', database])
      } catch (error) {
        if (process.env.DATA === undefined) throw error
      }
    },
    stop,
  }
}

/** PostgreSQL does not run as root. */
function ownerOf() {
  if (process.getuid?.() !== 0) return {}
  const id = (/** @type {string} */ flag) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}
