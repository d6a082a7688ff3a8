const { exports: entries } = require('sluice/package.json')

// Prints the entries of the package for which `require` gives what `import` gives.
async function compare() {
  for (const [path, target] of Object.entries(entries)) {
    // package.json, and entries that say where they have moved.
    if (typeof target === 'string') continue
    const name = `sluice${path.slice(1)}`
    const required = require(name)
    const imported = await import(name)
    const names = Object.keys(imported).filter((name) => name !== 'default' && name !== 'module.exports')
    const same = names.every((name) => required[name] === imported[name])
    process.stdout.write(`${name} ${same ? 'as imported' : 'differs'}\n`)
  }
}

compare()
