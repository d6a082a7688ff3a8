import { minify } from 'terser'
import { engineName } from './engine-file.js'
import { letters } from './letters.js'

// Those that esbuild does not know. The others would cost a second of each build.
const rules = {
  defaults: false,
  join_vars: true,
  conditionals: true,
  if_return: true,
  booleans: true,
  comparisons: true,
  global_defs: { '@Number.POSITIVE_INFINITY': '1/0', '@Number.NEGATIVE_INFINITY': '-1/0' },
}

/**
 * Modules as esbuild has bundled them, without spaces and with short names of variables and of what files share. Functions and classes keep
 * the names that stack traces show. Lines are short: Node prints the line of an error that nobody catches.
 *
 * @param {readonly { readonly path: string, readonly text: string }[]} modules all files that import each other
 * @returns {Promise<{ path: string, text: string }[]>}
 */
export async function shortened(modules) {
  const renamed = withShortExports(modules)
  return Promise.all(renamed.map(async ({ path, text }) => ({ path, text: await minified(path, text) })))
}

/**
 * @param {string} path
 * @param {string} text
 */
async function minified(path, text) {
  // The engine is CommonJS outside, and made of modules.
  const isCommon = path.endsWith('.cjs') && !path.endsWith(engineName)
  const names = { keep_fnames: true, keep_classnames: true }
  const readable = isCommon ? text : withVariables(text)
  const { code = '' } = await minify(readable, {
    ...names,
    module: !isCommon,
    ecma: 2020,
    compress: isCommon ? false : { ...names, ...rules },
    mangle: { ...names, reserved: namedByVariable(readable, isCommon) },
    format: { comments: /^!|webpackMode/, max_line_len: 400, semicolons: false },
  })
  return code
}

/**
 * The functions of a file that have the name of their variable, and in CommonJS its classes. A function within another is short: the line and
 * the column say which it is.
 * @param {string} text
 * @param {boolean} isCommon
 */
function namedByVariable(text, isCommon) {
  const outer = isCommon ? text : text.replaceAll(/^ .*\n/gm, '')
  const declared = outer.matchAll(
    /(?<![#.\w$])([\w$]+) = (class (?![\w$]+ (?:\{|extends))|(?:async )?(?:\([^()]*\)|[\w$]+) => )/g,
  )
  return [...declared].map(([, name = '']) => name)
}

/**
 * Puts each function and class of a module into a variable, so that only its own name is long, not every mention of it. The functions come first:
 * they are there before all else runs, as declarations are.
 * @param {string} text
 */
function withVariables(text) {
  /** @type {string[]} */
  const functions = []
  const rest = text.replaceAll(/^(?:async )?function\*? ([\w$]+)\(.*?^\}\n/gms, (declaration, name) => {
    functions.push(`var ${name} = ${declaration.trimEnd()};\n`)
    return ''
  })
  return (
    functions.join('') + rest.replaceAll(/^((?:var )?|.*?, )([\w$]+) = class (?=\{|extends )/gm, '$1$2 = class $2 ')
  )
}

/**
 * Gives what one file exports for another a short name. What a file exports for a dynamic import keeps its name.
 * @param {readonly { readonly path: string, readonly text: string }[]} modules
 */
function withShortExports(modules) {
  const dynamic = new Set(
    modules.flatMap(({ text }) => [...text.matchAll(/import\("\.\/(.*?)"\)/g)].map(([, name]) => name)),
  )
  /** @type {Map<string, Map<string, string>>} */
  const namesOf = new Map()
  const shortName = (/** @type {string} */ file, /** @type {string} */ name) => {
    if (!/^sluice(-\w+)?\.js$/.test(file) || dynamic.has(file)) return name
    const names = namesOf.get(file) ?? new Map()
    namesOf.set(file, names)
    if (!names.has(name)) names.set(name, letters(names.size))
    return names.get(name) ?? name
  }
  return modules.map(({ path, text }) => {
    const file = path.replace(/^.*[\\/]/, '')
    const imported = text.replaceAll(/^import \{([^}]*)\} from "\.\/(.*?)";$/gm, (_, list, from) => {
      const links = list
        .trim()
        .split(/,\s*/)
        .map((/** @type {string} */ link) => {
          const [theirs = '', ours = theirs] = link.split(' as ')
          return `${shortName(from, theirs)} as ${ours}`
        })
      return `import { ${links.join(', ')} } from "./${from}";`
    })
    const whole = imported.replace(/^export \{([^}]*)\};$/m, (_, list) => {
      const links = list
        .trim()
        .split(/,\s*/)
        .map((/** @type {string} */ link) => {
          const [ours = '', theirs = ours] = link.split(' as ')
          return `${ours} as ${shortName(file, theirs)}`
        })
      return `export { ${links.join(', ')} };`
    })
    return { path, text: whole }
  })
}
