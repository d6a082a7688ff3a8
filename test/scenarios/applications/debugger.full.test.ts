import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { Debugger } from '../../support/debugger.js'
import { ampleTime, listenTo, startProgram } from '../../support/programs.js'
import { startTestReceiver, type TestReceiver } from '../../support/receiver.js'

let receiver: TestReceiver
beforeEach(async () => {
  receiver = await startTestReceiver()
})
afterEach(() => receiver.close())

function startApplication(flag: string) {
  const program = startProgram('pino-alone.js', {
    variables: { ...receiver.variables, ...ampleTime },
    flags: [`${flag}=127.0.0.1:0`],
  })
  onTestFinished(() => void program.process.kill('SIGKILL'))
  const prints = listenTo(program.process.stdout)
  const complains = listenTo(program.process.stderr)
  return {
    ...program,
    logged: () => prints('logged'),
    /** Node.js says this at each end with a debugger attached but that of a signal without a listener. */
    waitsForDebugger: () => complains('Waiting for the debugger to disconnect...'),
  }
}

const storedLines = async () => (await receiver.logs()).length

// The target comes to the main thread by the inspector, which a debugger uses at the same time.
describe('an application that knows pino’s target alone', () => {
  it('started with --inspect: everything is delivered at SIGTERM', async () => {
    const application = startApplication('--inspect')
    await application.logged()
    application.process.kill('SIGTERM')
    expect(await application.ended).toMatchObject({ code: null, signal: 'SIGTERM' })
    expect(await storedLines()).toBe(1000)
  })

  it('with a debugger attached: nothing pauses, and everything is delivered at SIGTERM', async () => {
    const application = startApplication('--inspect')
    const attached = await Debugger.attach(application)
    await application.logged()
    application.process.kill('SIGTERM')
    await application.waitsForDebugger()
    expect(await storedLines()).toBe(1000)
    attached.detach()
    expect(await application.ended).toMatchObject({ code: null, signal: 'SIGTERM' })
    expect(attached.pauses).toEqual([])
  })

  it('with a debugger that stays attached: a second signal ends it', async () => {
    const application = startApplication('--inspect')
    await Debugger.attach(application)
    await application.logged()
    application.process.kill('SIGTERM')
    await application.waitsForDebugger()
    application.process.kill('SIGTERM')
    expect(await application.ended).toMatchObject({ code: null, signal: 'SIGTERM' })
  })

  it('started with --inspect-brk: only the starts pause, and everything is delivered at SIGTERM', async () => {
    const application = startApplication('--inspect-brk')
    const attached = await Debugger.attach(application, { threads: true })
    await application.logged()
    application.process.kill('SIGTERM')
    await application.waitsForDebugger()
    expect(await storedLines()).toBe(1000)
    attached.detach()
    await application.ended
    expect(attached.pauses).toEqual(['Break on start', 'thread: Break on start'])
  })

  it('started with --inspect, from a bundle without the package beside it: ends by SIGTERM, and everything is delivered', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-apart-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    cpSync(resolve('dist'), folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    const program = startProgram('package-apart.js', {
      variables: { ...receiver.variables, ...ampleTime, PACKAGE: folder },
      flags: ['--inspect=127.0.0.1:0'],
    })
    onTestFinished(() => void program.process.kill('SIGKILL'))
    await listenTo(program.process.stdout)('logged')
    program.process.kill('SIGTERM')
    const { stderr, ...ended } = await program.ended
    expect(ended).toMatchObject({ code: null, signal: 'SIGTERM' })
    expect(stderr).toContain('import sluice before pino')
    expect(stderr).not.toContain('Waiting for the debugger')
    expect(await receiver.values()).toHaveLength(1)
  })
})
