import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, normalize } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readMarkdown, root, userDocuments } from './markdown.js'

/** Documents of the site whose code is tested elsewhere. */
const sitesOwn = ['packages/receiver/README.md', 'examples/README.md', 'SECURITY.md', 'CHANGELOG.md']

describe('npm run docs', () => {
  const site = mkdtempSync(join(tmpdir(), 'sluice-site-'))
  const read = (path: string) => readFileSync(join(site, path), 'utf8')
  let pages: string[]
  beforeAll(() => {
    const { status, stdout, stderr } = spawnSync('npm', ['run', 'docs', '--', '--out', site], {
      cwd: root,
      encoding: 'utf8',
    })
    expect({ status, printed: /warning|error/i.exec(stdout)?.[0] }, stdout + stderr).toEqual({ status: 0 })
    pages = readdirSync(site, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.html'))
  }, 300_000)
  afterAll(() => rmSync(site, { recursive: true }))

  it('writes a page for each guide, each entry, and what they export', () => {
    const titles = pages
      .filter((path) => path.startsWith('documents/'))
      .map((path) => /<title>([^|<]+) \|/.exec(read(path))?.[1])
    expect(titles).toEqual(expect.arrayContaining(['The spool', 'Coming from Segment', 'Using Sluice in a code base']))
    expect(titles).toHaveLength(userDocuments.length - 1 + sitesOwn.length)
    expect(pages).toEqual(expect.arrayContaining(['modules/sluice.html', 'modules/sluice_pino.html']))
    expect(pages).toContain('functions/sluice.track.html')
  })

  it('writes only links that lead somewhere', () => {
    const anchors = Object.fromEntries(
      pages.map((path) => [path, new Set([...read(path).matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id))]),
    )
    const links = pages.flatMap((path) =>
      [...read(path).matchAll(/\s(?:href|src)="([^"]+)"/g)].map(([, link]) => ({
        path,
        link: link!.replaceAll('&amp;', '&'),
      })),
    )
    const leadsNowhere = ({ path, link }: { path: string; link: string }) => {
      if (/^[a-z]+:/.test(link)) return false
      const [file = '', anchor] = decodeURI(link).split('#')
      const target = file === '' ? path : normalize(join(dirname(path), file))
      if (!existsSync(join(site, target))) return true
      return anchor !== undefined && anchor !== '' && target.endsWith('.html') && !anchors[target]?.has(anchor)
    }
    expect(links.length).toBeGreaterThan(5000)
    expect(leadsNowhere({ path: 'index.html', link: 'documents/The_spool.html#nothing' })).toBe(true)
    expect(links.filter(leadsNowhere)).toEqual([])
  })

  it('writes llms.txt, whose links lead to the documents', () => {
    const links = [...read('llms.txt').matchAll(/^- \[([^\]]+)\]\(([^)]+)\)/gm)]
    expect(links.map(([, , path]) => path)).toEqual(expect.arrayContaining(userDocuments))
    expect(links.filter(([, , path]) => !existsSync(join(site, path!)))).toEqual([])
    const full = read('llms-full.txt')
    expect(userDocuments.filter((path) => !full.includes(readMarkdown(path).blocks[0]?.text ?? path))).toEqual([])
  })
})
