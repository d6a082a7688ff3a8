import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { optionNames, variableOf } from '../../packages/receiver/dist/options/option-table.js'
import { knownVariables } from '../../src/options/variables.js'
import { commandsIn, faultOf } from './commands.js'
import { linkedDocuments, readMarkdown, root, userDocuments } from './markdown.js'

const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(join(root, 'src', file), 'utf8'))
  .join('\n')
const variables = [...knownVariables, ...optionNames.map(variableOf)]

describe('the commands in the documents', () => {
  it.each(linkedDocuments)('of %s are there, with their options, scripts, scenarios and variables', (path) => {
    const commands = commandsIn(readMarkdown(path))
    expect(commands.flatMap((command) => faultOf(command) ?? []).map((fault) => `${path}: ${fault}`)).toEqual([])
  })

  it('are seen in blocks and between backticks', () => {
    const commands = linkedDocuments.flatMap((path) => commandsIn(readMarkdown(path)))
    const some = ['npx sluice doctor', 'npm run bench -- app-thread', 'npx sluice-tools migrate --help', 'npm run demo']
    expect(commands).toEqual(expect.arrayContaining(some))
  })

  it.each([
    ['npx sluice docter', 'no command docter'],
    ['npx sluice-tools ship --folow app.log', 'no option --folow'],
    ['npx sluice-tools shp app.log', 'no command shp'],
    ['npx sluice-receiver logs --folow', 'no option --folow'],
    ['npx sluice-receiver --prot 0', 'no option --prot'],
    ['npm run benhc', 'no script benhc'],
    ['npm run bench -- delivery/rivalz', 'no scenario delivery/rivalz'],
    ['SLUICE_URI=https://a.example node app.js', 'no variable SLUICE_URI'],
    ['node --import sluice/registre app.js', 'no entry ./registre'],
    ['npx vitest run test/comands', 'called test/comands'],
  ])('would be found wrong: %s', (command, fault) => {
    expect(faultOf(command)).toContain(fault)
  })
})

describe('the names in the documents', () => {
  it.each(userDocuments)('of %s that begin with SLUICE_ are variables, or codes of errors', (path) => {
    const names = readFileSync(join(root, path), 'utf8').match(/\bSLUICE_[A-Z_]+\b/g) ?? []
    expect(names.filter((name) => !variables.includes(name) && !sources.includes(`'${name}'`))).toEqual([])
  })
})
