import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A fenced block of a document. */
export interface Block {
  /** Such as `docs/spool.md#files, js 1`: the heading that it stands under, its language, and its number among those. */
  readonly name: string
  readonly language: string
  readonly text: string
  /** The text of the block that follows with nothing between, where that is `text`: what a program prints. */
  readonly output: string | undefined
}

/** A document of the repository, read as GitHub reads it. */
export interface MarkdownFile {
  /** From the root of the repository, such as `docs/spool.md`. */
  readonly path: string
  readonly blocks: readonly Block[]
  /** Targets of links and images, as written. */
  readonly links: readonly string[]
  /** Anchors of the headings. */
  readonly anchors: readonly string[]
  /** Texts between backticks, outside of blocks. */
  readonly codeSpans: readonly string[]
  /** Rows of the tables by the anchor of their heading, each a list of cells; head rows and rules left out. */
  readonly rows: Readonly<Record<string, readonly (readonly string[])[]>>
}

export const root = join(import.meta.dirname, '../..')
const isInternal = (path: string) => ['docs/internals.md', 'docs/testing-strategy.md'].includes(path)
const filesOf = (folder: string) =>
  readdirSync(join(root, folder))
    .filter((file) => file.endsWith('.md'))
    .map((file) => `${folder}/${file}`)
/** Documents for users: their code is typed and run, and their commands and links are checked. */
export const userDocuments = [
  'README.md',
  ...filesOf('docs').filter((path) => !isInternal(path)),
  ...filesOf('docs/coming-from'),
  'AGENTS.md',
]
/** Documents for people who change the code: each file that they name exists. */
export const maintainerDocuments = [...filesOf('docs').filter(isInternal), ...filesOf('docs/decisions')]
/** Documents whose links and commands are checked. */
export const linkedDocuments = [
  ...userDocuments,
  ...maintainerDocuments,
  'packages/receiver/README.md',
  'packages/tools/README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'benchmarks/README.md',
]

export function readMarkdown(path: string): MarkdownFile {
  const blocks: Block[] = []
  const anchors: string[] = []
  const rows: Record<string, string[][]> = {}
  const prose: string[] = []
  const counts = new Map<string, number>()
  let anchor = ''
  let open: { language: string; lines: string[] } | undefined
  /** Indexes of blocks with nothing between them and the one before. */
  const adjacent = new Set<number>()
  let between = false
  for (const line of readFileSync(join(root, path), 'utf8').split('\n')) {
    const fence = /^```(\w*)/.exec(line)
    if (fence !== null && open === undefined) {
      if (!between) adjacent.add(blocks.length)
      between = false
      open = { language: fence[1] ?? '', lines: [] }
    } else if (fence !== null && open !== undefined) {
      const label = `${path}${anchor && '#'}${anchor}, ${open.language}`
      counts.set(label, (counts.get(label) ?? 0) + 1)
      const text = open.lines.join('\n')
      blocks.push({ name: `${label} ${counts.get(label)}`, language: open.language, text, output: undefined })
      open = undefined
    } else if (open !== undefined) open.lines.push(line)
    else {
      const heading = /^#+ (.*)/.exec(line)?.[1]
      if (line.trim() !== '') between = true
      if (heading !== undefined) {
        anchor = anchorOf(heading)
        anchors.push(anchor)
      }
      if (line.startsWith('|')) rows[anchor] = [...(rows[anchor] ?? []), cellsOf(line)]
      prose.push(line)
    }
  }
  if (open !== undefined) throw new Error(`${path}: a block is not closed`)
  const text = prose.join('\n')
  return {
    path,
    blocks: blocks.map((block, index) => ({
      ...block,
      output: adjacent.has(index + 1) ? outputOf(blocks[index + 1]) : undefined,
    })),
    links: [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!),
    anchors,
    codeSpans: [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code!.replaceAll('\n', ' ')),
    rows: Object.fromEntries(Object.entries(rows).map(([heading, all]) => [heading, all.filter(isRecord)])),
  }
}

/** As GitHub makes an anchor of a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
}

const cellsOf = (line: string) =>
  line
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim())

/** Neither a rule nor the head above it. */
function isRecord(cells: readonly string[], index: number, all: readonly (readonly string[])[]): boolean {
  const isRule = (row: readonly string[] | undefined) => row?.every((cell) => /^:?-+:?$/.test(cell)) ?? false
  return !isRule(cells) && !isRule(all[index + 1])
}

const outputOf = (next: Block | undefined) => (next?.language === 'text' ? next.text : undefined)
