import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { readArguments } from '../../dist/arguments.js'
import { commandTable } from '../../dist/options/command-table.js'
import { optionsOf } from '../../dist/options/help-text.js'
import { cli, quiet } from '../processes.js'

const names = Object.keys(commandTable)

describe('the command line of sluice-receiver', () => {
  it.each([...names, 'keys', 'projects'])('has a help of its own for %s, with every option that it takes', (name) => {
    for (const option of ['--help', '-h']) {
      const command = readArguments([...name.split(' '), option], {})
      if (command.type !== 'help') throw new Error(command.type)
      expect(command.text).toMatch(new RegExp(`^Usage: sluice-receiver ${name}`))
      expect(command.text).toContain('Exit status: ')
      for (const each of optionsOf(name)) expect(command.text).toMatch(new RegExp(`^  --${each}\\b`, 'm'))
      for (const [, own] of command.text.matchAll(/^ {2}--([\w-]+)/gm)) expect(optionsOf(name)).toContain(own)
    }
  })

  it('names all commands in its help', () => {
    const command = readArguments(['--help'], {})
    for (const name of [...names, 'logs', 'values']) {
      expect(command).toMatchObject({ text: expect.stringMatching(new RegExp(`^  ${name} `, 'm')) })
    }
  })

  it.each([
    [['--bogus'], 'unknown option --bogus; see sluice-receiver --help'],
    ...names.map((name) => [
      [...name.split(' '), '--bogus'],
      `unknown option --bogus; see sluice-receiver ${name} --help`,
    ]),
    [['bogus'], 'unknown command bogus; see sluice-receiver --help'],
    [['keys'], 'keys: expected add, list or revoke, got nothing; see sluice-receiver keys --help'],
    [['page', 'x'], 'page: unexpected "x"; see sluice-receiver page --help'],
    [['--data', 'x', 'logs'], 'logs: expected before the options: sluice-receiver logs …'],
    [['mcp', '--json'], 'unknown option --json; see sluice-receiver mcp --help'],
  ] as [string[], string][])('says of %j: %s', (args, message) => {
    expect(readArguments(args, {})).toMatchObject({ type: 'wrong', message })
  })

  it('ends with 2 where it is wrong, and with --json a script gets an object', async () => {
    const child = spawn(process.execPath, [quiet, cli, 'keys', 'lst', '--json'])
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
    const error = 'keys: expected add, list or revoke, got "lst"; did you mean keys list?'
    expect({ code, answer: JSON.parse(stdout), stderr }).toEqual({
      code: 2,
      answer: { ok: false, error },
      stderr: `sluice-receiver: ${error}\n`,
    })
  })
})
