import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { API, type Checker, type Project, type Symbol as TypeSymbol } from 'typescript/unstable/sync'

/** A name that an application can write, or a member of one. */
export interface PublicName {
  /** Such as `sluice: Ledger.lanes`. */
  readonly name: string
  /** Prose of its docstring, without tags; empty where there is none. */
  readonly prose: string
  /** Text of its tags, such as `default`, by name. */
  readonly tags: Readonly<Record<string, string>>
}

/** Every public name of the built package: the exports of each entry of package.json, with the members of classes and interfaces. */
export function publicNames(root: string): PublicName[] {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-names-'))
  const api = new API({ cwd: root })
  try {
    const entries = declarationsOf(root)
    const config = join(folder, 'tsconfig.json')
    const compilerOptions = { module: 'nodenext', target: 'es2023', strict: true, noEmit: true, types: [] }
    writeFileSync(config, JSON.stringify({ compilerOptions, files: Object.values(entries) }))
    const [project] = api.updateSnapshot({ openProjects: [config] }).getProjects()
    return Object.entries(entries).flatMap(([entry, file]) =>
      exportsOf(project!, file).flatMap((each) => namesOf(each, { checker: project!.checker, entry })),
    )
  } finally {
    api.close()
    rmSync(folder, { recursive: true })
  }
}

/** File of declarations by specifier, such as `sluice/pino`. */
function declarationsOf(root: string): Record<string, string> {
  const { name, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    name: string
    exports: Record<string, string | { types: string }>
  }
  return Object.fromEntries(
    Object.entries(exports).flatMap(([path, target]) =>
      typeof target === 'string' ? [] : [[path.replace('.', name), join(root, target.types)]],
    ),
  )
}

function exportsOf({ program, checker }: Project, file: string): readonly TypeSymbol[] {
  const source = program.getSourceFile(file)
  const module = source && checker.getSymbolAtLocation(source)
  return module === undefined ? [] : checker.getExportsOfModule(module)
}

interface Setting {
  readonly checker: Checker
  readonly entry: string
}

function namesOf(exported: TypeSymbol, { checker, entry }: Setting): PublicName[] {
  const symbol = checker.isUnknownSymbol(checker.getAliasedSymbol(exported))
    ? exported
    : checker.getAliasedSymbol(exported)
  const described = (name: string, each: TypeSymbol): PublicName => ({
    name: `${entry}: ${name}`,
    prose: each.getDocumentationComment(checker).trim(),
    tags: Object.fromEntries(each.getJsDocTags(checker).map((tag) => [tag.name, tag.text ?? ''])),
  })
  const ours = ({ declarations }: TypeSymbol) =>
    declarations.some(({ path }) => path.includes('/dist/') && !path.includes('/node_modules/'))
  const members = checker
    .getPropertiesOfType(checker.getDeclaredTypeOfSymbol(symbol))
    .filter((each) => ours(each) && /^[\w$]+$/.test(each.name))
  return [described(exported.name, symbol), ...members.map((each) => described(`${exported.name}.${each.name}`, each))]
}
