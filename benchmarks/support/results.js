import { readFileSync, writeFileSync } from 'node:fs'
import { arch, cpus, platform, totalmem } from 'node:os'
import { versionsOf } from './versions.js'

const file = new URL('../RESULTS.md', import.meta.url)
const introduction =
  '# Results\n\nWritten by `npm run bench -- --write`, each part by its own run. README.md says what is measured and how to read it.\n'

/** Where and when: machine without its name, versions, date. */
function circumstances() {
  const processors = cpus()
  const memory = `${(totalmem() / 2 ** 30).toFixed(0)} GiB`
  const machine = `${processors.length} × ${processors[0]?.model.trim()}, ${memory}, ${platform()} ${arch()}`
  return `${new Date().toISOString().slice(0, 10)}, ${versionsOf(['sluice'])[0]}, Node.js ${process.version}, ${machine}`
}

/** The parts that the file has now, by the name of their scenario. @returns {Record<string, string>} */
function written() {
  let text = ''
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    // There is none yet.
  }
  const parts = text.split(/^## /m).slice(1)
  return Object.fromEntries(parts.map((part) => [part.slice(0, part.indexOf('\n')), part.slice(part.indexOf('\n'))]))
}

/**
 * Put a scenario's table into RESULTS.md, in the place of an earlier one; the others stay as they are.
 *
 * @param {string} scenario
 * @param {string} table
 */
export function writeResult(scenario, table) {
  const parts = { ...written(), [scenario]: `\n\n${circumstances()}\n\n\`\`\`text\n${table.trimEnd()}\n\`\`\`\n` }
  const names = Object.keys(parts).sort()
  writeFileSync(file, [introduction, ...names.map((name) => `## ${name}\n\n${parts[name]?.trim()}\n`)].join('\n'))
}
