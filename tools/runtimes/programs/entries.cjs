const { exports: entries } = require('sluice/package.json')

// Prints the entries of the package for which `require` gives what `import` gives.
async function compare() {
  for (const path of Object.keys(entries).filter((path) => typeof entries[path] !== 'string')) {
    const name = `sluice${path.slice(1)}`
    const required = require(name)
    const imported = await import(name)
    const names = Object.keys(imported).filter((name) => name !== 'default' && name !== 'module.exports')
    const same = names.every((name) => required[name] === imported[name])
    process.stdout.write(`${name} ${same ? 'as imported' : 'differs'}\n`)
  }
}

compare()
