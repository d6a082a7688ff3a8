import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { judge } from './judgement.js'
import { makeProject, packLibrary } from './project.js'
import { runtimes } from './runtimes.js'
import { startService } from './service.js'
import { runSmokeTest } from './smoke-run.js'
import { smokeTests } from './smoke-tests.js'
import { table } from './table.js'

/** @import { Column } from './table.js' */

// Runs the smoke tests under every runtime with the packed library, as an application that has installed it. Arguments: names of
// runtimes, to run those alone.
const wanted = process.argv.slice(2).map((name) => name.toLowerCase())
const taken = (/** @type {{ name: string }} */ { name }) =>
  wanted.length === 0 || wanted.some((word) => name.toLowerCase().includes(word))
/** Where the oldest loggers are tried, too. */
const withOldest = ['Node 20', 'Node 26']

const folder = await mkdtemp(join(tmpdir(), 'sluice-runtimes-'))
const service = await startService()
try {
  const tarballs = await packLibrary(folder)
  const [newest, oldest] = await Promise.all([
    makeProject({ folder: join(folder, 'newest'), tarballs, loggers: 'newest' }),
    makeProject({ folder: join(folder, 'oldest'), tarballs, loggers: 'oldest' }),
  ])
  /** @type {Column[]} */
  const columns = [
    ...runtimes.map((runtime) => ({ runtime, project: newest, results: new Map() })),
    ...runtimes
      .filter(({ name }) => withOldest.includes(name))
      .map((runtime) => ({ runtime, project: oldest, results: new Map() })),
  ].filter(({ runtime }) => taken(runtime))

  const work = columns.flatMap((column) => smokeTests.map((test) => ({ column, test })))
  const worker = async () => {
    for (let next = work.shift(); next !== undefined; next = work.shift()) {
      const { column, test } = next
      const { runtime, project } = column
      const run = async () => {
        const bucket = await service.newBucket()
        return await runSmokeTest(test, { runtime, folder: project.folder, bucket })
      }
      const first = await run()
      // A busy machine makes a process late now and then; one that waits in vain is late each time.
      const seen = first.late ? await run() : first
      column.results.set(test, judge(test, { runtime, seen }))
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, worker))
  process.stdout.write(table(columns, smokeTests))
  const crosses = columns.flatMap(({ results }) => [...results.values()]).filter(({ mark }) => mark === 'cross')
  process.exitCode = crosses.length === 0 ? 0 : 1
} finally {
  await service.close()
  await rm(folder, { recursive: true, force: true })
}
