import { readFileSync, writeFileSync } from 'node:fs'
import { optionTable, variablesOf } from '../build/options/defaults.js'

// Prints the README's table of options, made from the table that the code runs on; `--write` puts it into the README.
const rows = Object.entries(optionTable).map(([name, row]) => {
  const variables = variablesOf(row).map((variable) => `\`${variable}\``)
  const fallback = row.defaultText ?? (row.default === undefined ? '' : `\`${row.default}\``)
  return `| \`${name}\` | ${variables.join(', ')} | ${fallback} | ${row.about} |`
})
const table = ['| option | variable | default | what it is |', '|---|---|---|---|', ...rows].join('\n')

if (process.argv.includes('--write')) {
  const readme = new URL('../README.md', import.meta.url)
  const [start, end] = ['<!-- options -->', '<!-- /options -->']
  const text = readFileSync(readme, 'utf8')
  const [before, after] = [text.split(start)[0], text.split(end)[1]]
  writeFileSync(readme, `${before}${start}\n${table}\n${end}${after}`)
} else {
  process.stdout.write(`${table}\n`)
}
