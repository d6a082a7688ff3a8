import { cpSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { readMarkdown } from '../documents/markdown.js'
import { type CourseOptions, serveOrders, upTo } from '../support/framework-course.js'
import { FrameworkExample } from '../support/framework-example.js'

let example: FrameworkExample
beforeAll(async () => {
  example = await FrameworkExample.install('nextjs')
})
afterAll(() => example.remove())

const pages = ['/', '/']
/** The course of the built server, with the events by their number. */
async function serve(options: CourseOptions = { pages }) {
  const course = await serveOrders(example, options)
  return { ...course, events: course.events.toSorted((a, b) => a - b) }
}
/** Next.js closes its server at SIGTERM, and ends with this. */
const ended = { code: 143, signal: null, stderr: '' }
const others = { 'server started': 1, request: 22, 'page rendered': 2 }
const events = [...upTo(20).map(() => 1001), 1002, 1002]

const target = `import 'sluice/pino'
import pino from 'pino'

export const logger = pino({ transport: { target: 'sluice/pino' } })
`

/** Change a file of the example until the end of the test. */
function change(file: string, text: string): void {
  const { project } = example
  const before = project.read(file)
  project.write(file, text)
  onTestFinished(() => project.write(file, before))
}

describe('the server of the example nextjs', () => {
  it('loses no line at SIGTERM, as Turbopack has built it', async () => {
    expect(await serve()).toMatchObject({ ended, orders: upTo(20), others, events })
  })

  it('loses no line at SIGTERM, as webpack has built it', async () => {
    await example.runScript('build:webpack')
    expect(await serve()).toMatchObject({ ended, orders: upTo(20), others, events })
  })

  it('loses no line at SIGTERM with pino’s target', async () => {
    change('logger.ts', target)
    await example.runScript('build')
    expect(await serve()).toMatchObject({ ended, orders: upTo(20), others, events })
  })

  it('needs no configuration of Turbopack', async () => {
    change('next.config.ts', 'export default {}\n')
    await example.runScript('build')
    expect(await serve()).toMatchObject({ ended, orders: upTo(20), others, events })
  })

  it('says once that delivery is inline if webpack bundles Sluice, and loses no line', async () => {
    change('next.config.ts', 'export default {}\n')
    await example.runScript('build:webpack')
    const course = await serve()
    const stderr = expect.stringMatching(/^sluice: the delivery worker cannot be started \(.*\n$/)
    expect(course).toMatchObject({ ended: { ...ended, stderr }, orders: upTo(20), others, events })
  })

  it('builds with an edge route that imports Sluice, which says there that nothing is sent', async () => {
    const { project } = example
    const edge = `import { track } from 'sluice'

export const runtime = 'edge'

export function GET() {
  track(1003)
  return new Response('edge')
}
`
    project.write('app/edge/route.ts', edge)
    onTestFinished(() => rmSync(join(project.folder, 'app/edge'), { recursive: true }))
    await example.runScript('build')
    const course = await serve({ pages: [...pages, '/edge', '/edge'] })
    const stderr = expect.stringMatching(/^sluice: [^\n]* In this runtime nothing is sent[^\n]*\n$/)
    expect(course).toMatchObject({ ended: { ...ended, stderr }, orders: upTo(20), others, events })
  })

  it.each([
    ['pino’s target', target, "  output: 'standalone',\n  serverExternalPackages: ['sluice'],\n"],
    ['sluicePino(), with no other configuration', undefined, "  output: 'standalone',\n"],
  ])('has in its standalone output all that it needs for %s', async (_, logger, settings) => {
    if (logger !== undefined) change('logger.ts', logger)
    change('next.config.ts', `export default {\n${settings}}\n`)
    await example.runScript('build')
    const { folder } = example.project
    const modules = join(folder, 'node_modules')
    const away = mkdtempSync(join(tmpdir(), 'sluice-next-'))
    cpSync(join(folder, '.next/standalone'), join(away, 'standalone'), { recursive: true, verbatimSymlinks: true })
    renameSync(modules, join(away, 'node_modules'))
    onTestFinished(() => {
      renameSync(join(away, 'node_modules'), modules)
      rmSync(away, { recursive: true })
    })
    const manifest = JSON.parse(example.project.read('package.json'))
    const start = `node ${join(away, 'standalone/server.js')}`
    change('package.json', JSON.stringify({ ...manifest, scripts: { ...manifest.scripts, start } }))
    expect(await serve()).toMatchObject({ ended, orders: upTo(20), others, events })
  })

  it('is built with cacheComponents where the component that logs waits for a connection within Suspense', async () => {
    change('next.config.ts', 'export default { cacheComponents: true, partialPrefetching: true }\n')
    const [page = ''] = readMarkdown('docs/nextjs.md').blocks.flatMap(({ language, text }) =>
      language === 'tsx' ? [text] : [],
    )
    change('app/page.tsx', page.replace('  await connection()\n', ''))
    await expect(example.runScript('build')).rejects.toThrow('unstable value `Date.now()`')
    change('app/page.tsx', page)
    await example.runScript('build')
    const course = await serve()
    expect(course).toMatchObject({ ended, orders: upTo(20), others })
  })
})
