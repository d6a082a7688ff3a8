import { ConfigError } from '../../errors/sluice-error.js'
import { resolve } from '../../options/resolve.js'
import { tellMisspelt, tellResolved } from '../../process/configure.js'
import { systemClock } from '../../runtime/clock.js'
import { Ending } from '../ending.js'
import { printOwn } from '../terminal.js'
import { Outlet } from './outlet.js'
import { readShipArguments, type ShipArguments, shipHelp } from './ship-arguments.js'
import { ShipRun } from './ship-run.js'

/** The command `sluice ship`: resolves with the exit status. */
export async function ship(written: readonly string[]): Promise<number> {
  const request = readShipArguments(written)
  if (request.type === 'help') {
    printOwn(shipHelp)
    return 0
  }
  if (request.type === 'wrong') return new Ending('ship').wrong(request.message)
  const { files, quiet, json } = request.arguments
  const ending = new Ending('ship', { json })
  // Nobody may read what it says.
  process.stderr.on('error', () => {})
  try {
    tellMisspelt()
    const resolution = resolve({}, { environment: process.env, needs: 'logs', folder: process.cwd() })
    if (resolution.state === 'off' && resolution.reason === 'not-configured') {
      return ending.fail(2, 'there is nowhere to ship to: set SLUICE_URL, SLUICE_API_KEY and SLUICE_BUCKET')
    }
    const passes = !quiet && files.includes('-') && !process.stdin.isTTY
    const outlet = passes ? new Outlet(process.stdout) : undefined
    if (resolution.state === 'off') return await passOn(request.arguments, { outlet, ending })
    tellResolved(resolution)
    const run = new ShipRun(request.arguments, { options: resolution.options, outlet, ending, clock: systemClock })
    const status = await run.run()
    // The reader of stdout has stopped to read; what it has not taken would keep the process.
    if (outlet?.pending && run.interrupted) process.exit(status)
    return status
  } catch (error) {
    if (error instanceof ConfigError) return ending.fail(2, error.message)
    throw error
  }
}

/** Sluice is disabled: an application that writes to the pipe goes on as if nothing were there. */
async function passOn({ files, json }: ShipArguments, to: { outlet: Outlet | undefined; ending: Ending }): Promise<0> {
  const { outlet, ending } = to
  if (files.includes('-')) for await (const piece of process.stdin) await outlet?.pass(piece as Buffer)
  if (files.some((file) => file !== '-')) ending.complain('Sluice is disabled: nothing is shipped')
  if (json) ending.summary({ ok: true, facts: { disabled: true, lines: 0, records: 0, delivered: 0 }, lines: [] })
  return 0
}
