import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readMarkdown } from '../../documents/markdown.js'
import { Project, pack } from '../../support/project.js'

let project: Project
let receiver: ChildProcess | undefined
beforeAll(async () => {
  project = new Project({ type: 'module' })
  const [library, server] = [await pack('.', project.folder), await pack('packages/receiver', project.folder)]
  await project.install(library.tarball, server.tarball, 'pino')
}, 120_000)
afterAll(async () => {
  const ended = new Promise((resolve) => receiver?.once('exit', resolve))
  if (receiver?.kill('SIGTERM')) await ended
  project.remove()
})

/** Starts the receiver as a newcomer does, and resolves with what it prints, up to the last of three variables. */
async function greetingOf(program: ChildProcess): Promise<string[]> {
  const lines: string[] = []
  for await (const line of createInterface({ input: program.stdout! })) {
    lines.push(line)
    if (lines.filter((each) => /^ *export /.test(each)).length === 3) return lines
  }
  throw new Error(`the receiver ended: ${lines.join('\n')}`)
}

it('a newcomer starts the receiver, pastes what it prints, runs the first program of the README, and sees its records', async () => {
  // The shell of the newcomer has npx's folder of programs in its path, and no variable of ours.
  const path = `${join(project.folder, 'node_modules/.bin')}:${process.env.PATH}`
  receiver = spawn('sluice-receiver', ['--port', '0'], {
    cwd: project.folder,
    env: { PATH: path, HOME: project.folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const greeting = await greetingOf(receiver)
  expect(project.read('sluice-data/.gitignore')).toBe('*\n')

  const [first] = readMarkdown('README.md').blocks.filter(({ language }) => language === 'js')
  project.write('app.mjs', first!.text)
  const pasted = greeting.filter((line) => /^ *export /.test(line)).join('\n')
  project.write(
    'session.sh',
    `set -e\n${pasted}\nnode app.mjs\nsluice-receiver logs\nsluice-receiver values\nsluice doctor\n`,
  )
  const { code, stdout, stderr } = await project.run('sh', ['session.sh'], { PATH: path })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout.startsWith(`${first!.output}\n`)).toBe(true)
  expect(stdout).toMatch(/\n\S+Z info .* order placed /)
  expect(stdout).toMatch(/\n1 value of 1 event\n/)
  expect(stdout).toMatch(/\nno problems found\n$/)

  // The link that it prints opens the page, which reads the same records.
  const link = /http:\S+\?token=\S+/.exec(greeting.join('\n'))?.[0] ?? ''
  const opened = await fetch(link, { redirect: 'manual' })
  const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? ''
  const headers = { cookie, 'sec-fetch-site': 'same-origin' }
  const answer = await fetch(new URL('/api/logs/demo?text=order', link), { headers })
  expect(((await answer.json()) as { total: number }).total).toBe(1)
  expect(existsSync(join(project.folder, 'sluice-data/receiver.sqlite'))).toBe(true)
})
