import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { optionNames, variableOf } from '../../packages/receiver/dist/options/option-table.js'
import { knownVariables } from '../../src/options/variables.js'
import { type MarkdownFile, root } from './markdown.js'

const { scripts, exports, name, bin, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  name: string
  version: string
  scripts: Record<string, string>
  exports: Record<string, unknown>
  bin: { sluice: string }
}
const variables = [...knownVariables, ...optionNames.map(variableOf)]

const testFiles = ['test', 'packages/receiver/test', 'packages/tools/test'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
)

/** Programs that are not ours, and are not looked into. */
const others = [
  'docker run --init',
  'node app.js',
  'node --watch',
  'node --watch --env-file=.env app.js',
  'node --test',
  'npm version 1.2.0 --no-git-tag-version --workspace . --workspace packages/opentelemetry --workspace packages/receiver --workspace packages/tools --no-workspaces-update',
  'npm install --package-lock-only',
  // A test of the packages runs these.
  'npm ci --ignore-scripts',
  'npm pack --workspaces --include-workspace-root --pack-destination ..',
  `npm install ../sluice-${version}.tgz ../sluice-receiver-${version}.tgz pino`,
  'npm publish --provenance',
]

/** Every command that a document names: the lines of its `sh` blocks, and what looks like one between backticks. */
export function commandsIn({ blocks, codeSpans }: MarkdownFile): string[] {
  const lines = blocks.filter(({ language }) => language === 'sh').flatMap(({ text }) => text.split('\n'))
  const spans = codeSpans.filter((code) =>
    /^(\w+=\S+ )*(npm|npx|node|docker|sluice|sluice-receiver|sluice-tools) [^:]/.test(code),
  )
  return [...lines, ...spans]
    .map((line) => line.replace(/(^|\s)#.*/, '').trim())
    .flatMap((line) => line.split(/ (?:\||&&) /))
    .filter((line) => line !== '')
}

/** Why the command cannot be right; undefined when nothing speaks against it. */
export function faultOf(command: string): string | undefined {
  const words = command.split(/\s+/)
  if (words[0] === 'export') words.shift()
  while (/^\w+=/.test(words[0] ?? '')) {
    const [variable = ''] = words.shift()!.split('=')
    if (variable.startsWith('SLUICE_') && !variables.includes(variable)) return `there is no variable ${variable}`
  }
  if (words.length === 0 || others.includes(words.join(' '))) return undefined
  const [program = '', ...rest] = words[0] === 'npx' ? words.slice(1) : words
  return (programs[program] ?? (() => `nothing is known of ${program}`))(rest)
}

const programs: Readonly<Record<string, (words: string[]) => string | undefined>> = {
  npm: ([verb, script = '', , ...more]) => {
    if (verb === 'install') return script === name ? undefined : `not our package: ${script}`
    if (verb === 'test') return undefined
    if (verb !== 'run' || !Object.hasOwn(scripts, script)) return `there is no script ${script}`
    return script === 'bench' ? more.map(scenarioFault).find((fault) => fault !== undefined) : undefined
  },
  node: (words) => {
    const script = words.findIndex((word) => !word.startsWith('--env-file='))
    if (words[script] === `node_modules/${name}/${bin.sluice}`) return programs.sluice!(words.slice(script + 1))
    if (script > 0 && !words.includes('--import')) return undefined
    const entry = words[words.indexOf('--import') + 1]?.replace(name, '.')
    return words.includes('--import') && entry !== undefined && entry in exports ? undefined : `no entry ${entry}`
  },
  vitest: ([, ...words]) => {
    const filters = words.filter(
      (word, index) => !word.startsWith('-') && !/^(-t|--project)$/.test(words[index - 1] ?? ''),
    )
    const missing = filters.find((filter) => !testFiles.some((file) => file.includes(filter)))
    return missing === undefined ? undefined : `no test file is called ${missing}`
  },
  sluice: ([command = '', ...more]) => {
    if (command === 'COMMAND') return undefined
    if (!existsSync(join(root, `src/cli/${command}/${command}.ts`))) return `there is no command ${command}`
    return unknownOption(more, help('dist/cli.js', command))
  },
  'sluice-receiver': (words) => {
    const command = receiverCommands.includes(words[0] ?? '') ? [words[0]!] : []
    return unknownOption(words, help('packages/receiver/bin/sluice-receiver.js', ...command))
  },
  'sluice-tools': ([command, ...more]) => {
    if (command === undefined) return undefined
    if (!existsSync(join(root, `packages/tools/src/${command}/${command}.ts`))) return `there is no command ${command}`
    return unknownOption(more, help('packages/tools/bin/sluice-tools.js', command))
  },
}

const receiverCommands = ['run', 'page', 'keys', 'projects', 'backup', 'mcp', 'logs', 'values']

function scenarioFault(scenario: string): string | undefined {
  const [folder = '', file] = scenario.split('/')
  const path = join(root, 'benchmarks', folder)
  const found = existsSync(path) && (file === undefined || readdirSync(path).includes(`${file}.js`))
  return found || scenario === 'NAME' || scenario.startsWith('--') ? undefined : `there is no scenario ${scenario}`
}

const helps = new Map<string, string>()
function help(program: string, ...words: string[]): string {
  const key = [program, ...words].join(' ')
  const known =
    helps.get(key) ?? execFileSync(process.execPath, [join(root, program), ...words, '--help'], { encoding: 'utf8' })
  helps.set(key, known)
  return known
}

function unknownOption(words: readonly string[], help: string): string | undefined {
  const option = words
    .map((word) => word.replace(/^\[/, ''))
    .find(
      (word) => word.startsWith('--') && !new RegExp(`(^|[\\s,])${word.replace(/\]$/, '')}(?![\\w-])`, 'm').test(help),
    )
  return option === undefined ? undefined : `there is no option ${option}`
}
