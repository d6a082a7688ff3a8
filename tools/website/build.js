import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Application, Converter } from 'typedoc'
import { guidesIn, titleOf } from './guides.js'
import { writeLlmsText } from './llms-text.js'

// `npm run docs` writes the documentation site into `site`: README as its first page, the guides, and the reference of every entry of
// package.json. `--out FOLDER` writes it elsewhere.
const root = fileURLToPath(new URL('../../', import.meta.url))
const at = process.argv.indexOf('--out')
const site = at === -1 ? join(root, 'site') : /** @type {string} */ (process.argv[at + 1])
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const entries = Object.keys(exports).filter((name) => typeof exports[name] !== 'string')

rmSync(site, { recursive: true, force: true })
const app = await Application.bootstrap({
  name: 'Sluice',
  readme: join(root, 'README.md'),
  entryPoints: entries.map((name) => join(root, 'src', name === '.' ? 'index.ts' : `${name.slice(2)}.ts`)),
  projectDocuments: guidesIn(root).map(({ path }) => join(root, path)),
  tsconfig: fileURLToPath(new URL('tsconfig.json', import.meta.url)),
  out: site,
  basePath: root,
  // The address of the repository is the owner's to set.
  disableSources: true,
  excludeInternal: true,
  excludePrivate: true,
  githubPages: true,
  hideGenerator: true,
  highlightLanguages: ['bash', 'diff', 'http', 'js', 'json', 'sh', 'sql', 'text', 'ts', 'yaml'],
  searchInDocuments: true,
  treatWarningsAsErrors: true,
  validation: { notExported: false, invalidLink: true, notDocumented: false },
  externalSymbolLinkMappings: { '@types/node': { '*': '#' } },
})

// A guide is called by its first heading, and an entry by the name that an application imports.
app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_, document) => {
  document.name = titleOf(document.content.map((part) => part.text).join('')) || document.name
})
app.converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => {
  // The page has the name of the project as its heading already.
  const [first] = project.readme ?? []
  if (first !== undefined) first.text = first.text.replace(/^# .+\n/, '')
  for (const module of project.children ?? []) {
    const entry = module.name.replace(/^.*\//, '')
    module.name = entry === 'src' || entry === 'index' ? 'sluice' : `sluice/${entry}`
  }
})

const project = await app.convert()
if (project !== undefined) {
  app.validate(project)
  await app.generateOutputs(project)
}
if (app.logger.hasErrors() || app.logger.hasWarnings() || !existsSync(site)) process.exitCode = 1
else writeLlmsText({ root, site })
