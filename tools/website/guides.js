import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * A document for users.
 * @typedef {object} Guide
 * @property {string} path from the root of the repository
 * @property {string} title its first heading
 * @property {string} summary the first sentence that is neither code nor a table; empty if there is none
 */

const folders = ['docs', 'docs/coming-from']
const others = ['packages/receiver/README.md', 'examples/README.md', 'SECURITY.md', 'AGENTS.md', 'CHANGELOG.md']
/** For people who change the code. */
const internal = ['docs/internals.md', 'docs/testing-strategy.md']

/**
 * All documents for users, except README.md.
 * @param {string} root
 * @returns {Guide[]}
 */
export function guidesIn(root) {
  const inFolders = folders.flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`),
  )
  const paths = [...inFolders.filter((path) => !internal.includes(path)), ...others]
  return paths.map((path) => ({ path, ...headOf(readFileSync(join(root, path), 'utf8')) }))
}

/** @param {string} text */
export function headOf(text) {
  const withoutCode = text.replaceAll(/^```[\s\S]*?^```/gm, '')
  const paragraphs = withoutCode.split(/\n{2,}/).map((paragraph) => paragraph.trim().replaceAll('\n', ' '))
  const prose = paragraphs.find((paragraph) => /^[A-Z`[*]/.test(paragraph)) ?? ''
  const plain = prose.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1').replaceAll('**', '')
  return {
    title: titleOf(text),
    summary: /^.*?[.:](?=\s|$)/.exec(plain)?.[0].replace(/:$/, '.') ?? '',
  }
}

/** @param {string} text */
export function titleOf(text) {
  return /^# (.+)$/m.exec(text)?.[1] ?? ''
}
