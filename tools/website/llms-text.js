import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { guidesIn, headOf } from './guides.js'

/**
 * Writes llms.txt, the index of the documents as Markdown for programs that read them (the form is that of llmstxt.org), the documents beside
 * it, and llms-full.txt, which has all of their texts.
 * @param {{ readonly root: string, readonly site: string }} folders
 */
export function writeLlmsText({ root, site }) {
  const guides = guidesIn(root)
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const line = (/** @type {import('./guides.js').Guide} */ { path, title, summary }) =>
    `- [${title}](${path})${summary === '' ? '' : `: ${summary}`}`
  const later = ['CHANGELOG.md']
  const index = [
    '# Sluice',
    `> ${headOf(readme).summary}`,
    '## Documents',
    [
      '- [README](README.md): code, options, and what happens when something fails.',
      ...guides.filter(({ path }) => !later.includes(path)).map(line),
    ].join('\n'),
    '## Optional',
    guides
      .filter(({ path }) => later.includes(path))
      .map(line)
      .join('\n'),
  ]
  writeFileSync(join(site, 'llms.txt'), `${index.join('\n\n')}\n`)
  const paths = ['README.md', ...guides.map(({ path }) => path)]
  for (const path of paths) {
    mkdirSync(join(site, dirname(path)), { recursive: true })
    cpSync(join(root, path), join(site, path))
  }
  const texts = paths
    .filter((path) => !later.includes(path))
    .map((path) => `<!-- ${path} -->\n\n${readFileSync(join(root, path), 'utf8')}`)
  writeFileSync(join(site, 'llms-full.txt'), texts.join('\n'))
}
