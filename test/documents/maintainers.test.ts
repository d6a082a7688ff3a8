import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { maintainerDocuments, readMarkdown, root } from './markdown.js'

const decisions = maintainerDocuments.filter((path) => /\/\d{4}-[a-z-]+\.md$/.test(path))

/** Files and folders that a text names, such as `delivery/lane.ts` (below `src` or `test`) or `packages/receiver/src/storage`. */
function filesIn(spans: readonly string[]): string[] {
  return spans.filter((span) => /^[\w.-]+(\/[\w.-]+)*\/[\w.-]+\.(ts|js|md)$|^[\w.-]+(\/[\w.-]+)*\/$/.test(span))
}

const exists = (path: string) => ['', 'src', 'test'].some((folder) => existsSync(join(root, folder, path)))

describe('documents for maintainers', () => {
  const isReplaced = (path: string) => /^Replaced by /m.test(readFileSync(join(root, path), 'utf8'))
  // A decision that another one has replaced names files of its time.
  const present = maintainerDocuments.filter((path) => !isReplaced(path))
  it.each(present)('name files that exist: %s', (path) => {
    expect(filesIn(readMarkdown(path).codeSpans).filter((file) => !exists(file))).toEqual([])
  })

  it('would fail if a file did not exist', () => {
    expect(filesIn(['delivery/no-such-file.ts', 'npm test', 'a/b', 'engine/'])).toEqual([
      'delivery/no-such-file.ts',
      'engine/',
    ])
    expect(exists('delivery/no-such-file.ts')).toBe(false)
    expect(exists('engine/')).toBe(true)
  })

  it('list every decision, in order', () => {
    const listed = readMarkdown('docs/decisions/README.md').links.filter((link) => /^\d{4}-/.test(link))
    expect(listed.map((link) => `docs/decisions/${link}`)).toEqual(decisions)
  })

  it.each(decisions.filter((path) => !isReplaced(path)))(
    'give each decision a context, a decision and a consequence in 40 lines: %s',
    (path) => {
      expect(readMarkdown(path).anchors.slice(1)).toEqual(['context', 'decision', 'consequence'])
      expect(readFileSync(join(root, path), 'utf8').split('\n').length).toBeLessThanOrEqual(41)
    },
  )

  it.each(decisions.filter(isReplaced))(
    'say in 10 lines what a replaced decision was, and link to the next: %s',
    (path) => {
      const { anchors, links } = readMarkdown(path)
      const [next = ''] = links.filter((link) => /^\d{4}-/.test(link))
      expect(anchors).toHaveLength(1)
      expect(decisions.indexOf(`docs/decisions/${next}`)).toBeGreaterThan(decisions.indexOf(path))
      expect(readFileSync(join(root, path), 'utf8').split('\n').length).toBeLessThanOrEqual(11)
    },
  )
})
