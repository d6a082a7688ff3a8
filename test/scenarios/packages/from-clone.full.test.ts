import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { readMarkdown } from '../../documents/markdown.js'
import { cloneTo, Project } from '../../support/project.js'

it('the commands of the README install the packages from a clone, and run its first program', {
  timeout: 300_000,
}, async () => {
  const { blocks } = readMarkdown('README.md')
  const commands = blocks.find(({ language, text }) => language === 'sh' && text.includes('npm pack'))!
  const [inClone = '', ...inApplication] = commands.text.split('\n').map((line) => line.replace(/ # .*/, ''))
  const program = blocks.find(({ language }) => language === 'js')!
  const folder = new Project()
  onTestFinished(() => folder.remove())
  mkdirSync(join(folder.folder, 'clone'))
  cloneTo(join(folder.folder, 'clone'))
  folder.write('application/package.json', '{"private":true}')
  folder.write('application/app.mjs', program.text)
  const inFolder = (name: string, commands: string) => folder.run('sh', ['-c', `cd ${name} && set -e; ${commands}`])
  expect(await inFolder('clone', inClone)).toMatchObject({ code: 0 })
  const { code, stdout, stderr } = await inFolder('application', inApplication.filter((line) => line !== '').join('; '))
  expect({ code, stderr }).toMatchObject({ code: 0 })
  expect(stdout).toContain(program.output)
})
