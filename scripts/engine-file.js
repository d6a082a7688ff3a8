import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { build } from 'esbuild'
import { letters } from './letters.js'

// The modules of the library have three parts: the early ones, which `import 'sluice'` reads; the engine, which is read when the first logger is made
// or the first record comes; and the others, which belong to one entry or program. The early modules are one file, because a thread waits for each
// file. The engine is one file of CommonJS, because only such a file can be read in the middle of a call.
// See docs/decisions/0021-the-engine-is-read-late.md.

/** Modules of functions alone. Outside the engine, each of these functions reads the engine when it is called first. */
const doors = [
  'options/environment.js',
  'process/configure.js',
  'process/engine-lease.js',
  'process/late-lease.js',
  'loggers/pino-delivery.js',
  'loggers/pino-options.js',
  'loggers/pino-stream.js',
]

/** Modules of Node whose import must be seen: from it, @vercel/nft finds the files that a module names. */
const seen = ['node:fs', 'node:module', 'node:url']

/** The file of the early modules. src/hand-off/worker-file.ts knows it by this name. */
export const earlyName = 'sluice.js'
export const engineName = 'engine.cjs'

/**
 * The two files of which `imports` of package.json names one. No thread needs both.
 *
 * Node alone has the condition `node-addons`, where it reads the files of a package as they are. Everything else gets the second file: bundlers
 * follow what is imported. That one names the first for programs that copy the files of an application, such as @vercel/nft. Bundlers for CommonJS
 * warn of `import.meta` where nothing catches its absence.
 */
export const readers = {
  'engine-late.js': `import{createRequire as requireOf}from"node:module";
export function readEngine(early){let here;try{here=import.meta.url}catch{}
return requireOf(here)("./${engineName}")(early,process.getBuiltinModule)}
`,
  'engine-now.js': `export{readEngine as readEngineLate}from"./engine-late.js";
import engine from"./${engineName}";
export const readEngine=early=>engine(early,process.getBuiltinModule);
`,
}

/**
 * @typedef {object} Parts
 * @property {(path: string) => boolean} isEarly
 * @property {(path: string) => boolean} isLate
 * @property {(isImporter: (path: string) => boolean, isImported: (path: string) => boolean) => [path: string, names: string[]][]} shared the names
 *   that modules import from others
 * @property {(path: string, name: string) => string} key short, for what one part gives the other
 */

/**
 * Divides the compiled modules.
 * @param {string} folder of the compiled modules
 * @param {readonly string[]} entries paths
 * @returns {Promise<Parts>}
 */
export async function divide(folder, entries) {
  const { metafile } = await build({
    entryPoints: entries.map((path) => join(folder, path)),
    bundle: true,
    metafile: true,
    write: false,
    format: 'esm',
    outdir: folder,
    platform: 'node',
    packages: 'external',
  })
  const modules = Object.keys(metafile.inputs)
    .map((path) => relative(folder, path))
    .filter((path) => !path.startsWith('..'))
  const imports = new Map(modules.map((path) => [path, importsOf(folder, path)]))
  const reached = (/** @type {readonly string[]} */ starts, /** @type {ReadonlySet<string>} */ leftOut) => {
    const found = new Set(starts)
    for (const path of found)
      for (const next of imports.get(path)?.keys() ?? []) if (imports.has(next) && !leftOut.has(next)) found.add(next)
    return found
  }
  const early = reached([...(imports.get('index.js')?.keys() ?? [])], new Set(doors))
  const late = reached(doors, early)
  /** @type {Map<string, string>} */
  const keys = new Map()
  return {
    key: (path, name) => {
      const whole = `${path} ${name}`
      const known = keys.get(whole) ?? letters(keys.size)
      keys.set(whole, known)
      return known
    },
    isEarly: (path) => early.has(path),
    isLate: (path) => late.has(path),
    shared: (isImporter, isImported) => {
      /** @type {Map<string, Set<string>>} */
      const found = new Map()
      for (const [importer, all] of imports) {
        if (!isImporter(importer)) continue
        for (const [path, names] of all) {
          if (isImported(path)) found.set(path, new Set([...(found.get(path) ?? []), ...names]))
        }
      }
      return [...found].map(([path, names]) => [path, [...names].sort()])
    },
  }
}

/** The names that a module imports, or exports, from each other one and from those of Node. @param {string} folder @param {string} path */
function importsOf(folder, path) {
  const text = readFileSync(join(folder, path), 'utf8')
  /** @type {Map<string, string[]>} */
  const found = new Map()
  for (const [, names = '', from = ''] of text.matchAll(
    /^(?:import|export) \{([^}]*)\} from ['"](\.[^'"]+|node:[^'"]+)['"]/gm,
  )) {
    const plain = names.split(',').map((name) => name.replace(/ as .*/s, '').trim())
    const module = from.startsWith('.') ? join(dirname(path), from) : from
    found.set(module, [...(found.get(module) ?? []), ...plain.filter((name) => name !== '')])
  }
  return found
}

/** @typedef {{ readonly contents: string, readonly plugin: import('esbuild').Plugin }} Part to be bundled */

/**
 * The file of the early modules: all that others import from them, and the function that reads the engine.
 * @param {string} folder
 * @param {Parts} parts
 * @returns {Part}
 */
export function earlyFile(folder, { isEarly, isLate, shared, key }) {
  const given = shared(isLate, isEarly)
  const asked = shared((path) => !(isEarly(path) || isLate(path)), isEarly)
  const doorsUsed = shared(isEarly, isLate)
  const contents = [
    `export { late } from 'late'`,
    ...asked.map(([path, names]) => `export { ${names} } from './${path}'`),
  ].join('\n')
  const gift = gathered(given, key)
  const reader = [
    `import { readEngine } from '#engine'`,
    gift.imports,
    'let engine',
    `export const late = () => (engine ??= readEngine(${gift.object}))`,
  ].join('\n')
  return {
    contents,
    plugin: {
      name: 'the early modules',
      setup: ({ onResolve, onLoad }) => {
        onResolve({ filter: /^#engine$/ }, ({ path }) => ({ path, external: true }))
        onResolve({ filter: /^node:/ }, ({ path }) =>
          seen.includes(path) ? undefined : { path, namespace: 'builtin' },
        )
        onResolve({ filter: /^late$/ }, ({ path }) => ({ path, namespace: 'reader' }))
        onResolve({ filter: /^\./ }, ({ path, resolveDir }) => {
          const module = relative(folder, join(resolveDir, path))
          if (isLate(module)) return { path: module, namespace: 'door' }
          return isEarly(module) ? undefined : { path: entryWith(module), external: true }
        })
        // As an import they would take 1.5 ms more: Node makes a module of all their exports.
        onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({
          contents: `export const { ${shared(isEarly, (each) => each === path)[0]?.[1]} } = process.getBuiltinModule('${path}')`,
        }))
        onLoad({ filter: /.*/, namespace: 'reader' }, () => ({ contents: reader, resolveDir: folder }))
        onLoad({ filter: /.*/, namespace: 'door' }, ({ path }) => {
          const names = doorsUsed.find(([module]) => module === path)?.[1] ?? []
          return { contents: `import { late } from 'late'\n${door(path, names, key)}`, resolveDir: folder }
        })
      },
    },
  }
}

/**
 * The code that imports names of modules, and an object that has them all.
 * @param {readonly [path: string, names: readonly string[]][]} modules
 * @param {Parts['key']} key
 */
function gathered(modules, key) {
  const imports = modules.map(
    ([path, names], index) => `import { ${names.map((name) => `${name} as ${name}${index}`)} } from './${path}'`,
  )
  const members = modules.flatMap(([path, names], index) => names.map((name) => `${key(path, name)}: ${name}${index}`))
  return { imports: imports.join('\n'), object: `{${members}}` }
}

/**
 * The entry that exports what an early module imports late.
 * @param {string} path
 */
function entryWith(path) {
  if (path !== 'loggers/pino-target.js') throw new Error(`no entry is known that exports ${path}`)
  return './pino.js'
}

/** Functions of the engine. @param {string} path @param {readonly string[]} names @param {Parts['key']} key */
function door(path, names, key) {
  return names
    .map((name) => `export function ${name}(...given) { return late().${key(path, name)}(...given) }`)
    .join('\n')
}

/**
 * For all other files: they import the early modules from their file, and read the engine when they are read, where doors are not enough.
 * @param {string} folder
 * @param {Parts} parts
 * @returns {import('esbuild').Plugin}
 */
export function withoutParts(folder, { isEarly, isLate, shared, key }) {
  return {
    name: 'without early modules and engine',
    setup: ({ onResolve, onLoad }) => {
      onResolve({ filter: /^\./ }, ({ path, resolveDir, importer }) => {
        const module = relative(folder, join(resolveDir, path))
        if (path === `./${earlyName}` || isEarly(module)) return { path: `./${earlyName}`, external: true }
        // One for each importer: one for all would be a file of its own.
        return isLate(module)
          ? { path: module, namespace: 'late', pluginData: relative(folder, importer), suffix: `?${importer}` }
          : undefined
      })
      onLoad({ filter: /.*/, namespace: 'late' }, ({ path, pluginData }) => {
        const importer = (/** @type {string} */ each) => each === pluginData
        const names = shared(importer, (each) => each === path)[0]?.[1] ?? []
        const start = `import { late } from './${earlyName}'\n`
        return {
          contents: doors.includes(path)
            ? `${start}${door(path, names, key)}`
            : `${start}export const { ${names.map((name) => `${key(path, name)}: ${name}`)} } = late()`,
          resolveDir: folder,
        }
      })
    },
  }
}

/**
 * The engine's file: a function of the early modules, and of what gives the modules of Node.
 * @param {string} folder
 * @param {Parts} parts
 * @returns {Part}
 */
export function engineFile(folder, { isEarly, isLate, shared, key }) {
  const given = shared(isLate, isEarly)
  const answer = gathered(
    shared((path) => !isLate(path), isLate),
    key,
  )
  return {
    contents: `${answer.imports}\nmodule.exports = ${answer.object}`,
    plugin: {
      name: 'the engine',
      setup: ({ onResolve, onLoad }) => {
        onResolve({ filter: /^\./ }, ({ path, resolveDir }) => {
          const module = relative(folder, join(resolveDir, path))
          return isEarly(module) ? { path: module, namespace: 'early' } : undefined
        })
        onLoad({ filter: /.*/, namespace: 'early' }, ({ path }) => ({
          contents: `export const { ${given.find(([module]) => module === path)?.[1].map((name) => `${key(path, name)}: ${name}`)} } = early`,
        }))
      },
    },
  }
}

/**
 * The parentheses make V8 compile the function at once, and not twice.
 * @param {string} code shortened CommonJS
 */
export function wrapped(code) {
  return `module.exports=(function(early,require){const module={exports:{}};${code}\nreturn module.exports})\n`
}
