import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { linkedDocuments, readMarkdown, root, userDocuments } from './markdown.js'

const documents = Object.fromEntries(linkedDocuments.map((path) => [path, readMarkdown(path)]))
const isElsewhere = (link: string) => /^[a-z]+:/.test(link)

/** Why the link leads nowhere; undefined when it leads somewhere. */
function fault(from: string, link: string): string | undefined {
  const [file = '', anchor] = link.split('#')
  const path = file === '' ? from : normalize(join(dirname(from), file))
  if (!existsSync(join(root, path))) return `${from}: there is no ${path}`
  if (anchor === undefined) return undefined
  const anchors = (documents[path] ?? readMarkdown(path)).anchors
  return anchors.includes(anchor) ? undefined : `${from}: ${path} has no heading #${anchor}`
}

describe('links in documents', () => {
  it.each(linkedDocuments)('of %s lead somewhere', (path) => {
    const links = documents[path]!.links.filter((link) => !isElsewhere(link))
    expect(links.length + documents[path]!.anchors.length).toBeGreaterThan(1)
    expect(links.flatMap((link) => fault(path, link) ?? [])).toEqual([])
  })

  it('lead from the README, or the index that it names, to every guide', () => {
    const linked = ['README.md', 'docs/README.md'].flatMap((path) =>
      documents[path]!.links.map((link) => normalize(join(dirname(path), link.split('#')[0]!))),
    )
    expect(linked).toContain('docs/README.md')
    expect(userDocuments.filter((path) => path !== 'README.md' && !linked.includes(path))).toEqual([])
  })

  it('leave the README at 150 lines: what is longer is a guide', () => {
    expect(readFileSync(join(root, 'README.md'), 'utf8').split('\n').length).toBeLessThanOrEqual(151)
  })

  it('would be noticed when they lead nowhere', () => {
    expect(fault('README.md', 'docs/no-such-guide.md')).toContain('there is no')
    expect(fault('docs/spool.md', '../README.md#no-such-heading')).toContain('no heading')
    expect(fault('docs/spool.md', '../README.md#use')).toBeUndefined()
  })
})
