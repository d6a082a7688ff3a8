import { ok } from 'node:assert/strict'
import { ConfigError } from '../../../src/errors/sluice-error.js'
import { describeOptions } from '../../../src/options/options.js'
import { resolve } from '../../../src/options/resolve.js'
import { knownVariables, misspeltVariables } from '../../../src/options/variables.js'
import { Input, seed } from '../input.js'

// Others would name files of the machine.
const variables = knownVariables.filter((variable) => !variable.endsWith('_FILE'))
const at = (variable: string) => variables.indexOf(variable)
const key = 'slk_secret-of-the-application'
const own = { SLUICE_URL: 'http://127.0.0.1:18400', SLUICE_API_KEY: key, SLUICE_BUCKET: 'demo' }

export const seeds = [
  seed([at('SLUICE_URL'), 0], 'https://user:pass@example.com/api?x=1'),
  seed([at('SLUICE_URL'), 0], 'http://[::1]:8080//'),
  seed([at('SLUICE_BUCKET'), 0], ' "quoted" '),
  seed([at('SLUICE_API_KEY'), 0], 'a\r\nx: y'),
  ...['10/60s', 'true', '1e3', '-5', 'debug:0.1,info:1', 'password,*token*', 'json', '0x10'].map((text, index) =>
    seed([index * 5, 0], text),
  ),
  seed([0, 1], 'otel=1,service.name=shop%20one,deployment.environment=prod'),
]

/** Names beside those of Sluice that it reads. */
const others = ['OTEL_RESOURCE_ATTRIBUTES', 'OTEL_SERVICE_NAME', 'DD_SERVICE', 'NODE_ENV', 'SLUICE_UNKNOWN']

/** A variable with any text gives valid options, or one error that names it and does not show the key. */
export function fuzz(data: Buffer): void {
  const input = new Input(data)
  const sluices = input.pick(variables)
  const variable = input.below(4) === 1 ? input.pick(others) : sluices
  const text = input.text()
  const environment = { ...own, [variable]: text }
  misspeltVariables({ [`SLUICE_${text.slice(0, 40)}`]: '1' })
  let resolution: ReturnType<typeof resolve>
  try {
    resolution = resolve({}, { environment, needs: 'logs', folder: '/nonexistent' })
  } catch (error) {
    ok(error instanceof ConfigError, `another error than ConfigError: ${error}`)
    const shown = `${error.message} ${JSON.stringify(error)}`
    ok(!shown.includes(key), 'an error shows the key')
    if (variable === 'SLUICE_API_KEY' && text.trim().length > 12)
      ok(!error.message.includes(text.trim()), 'an error shows a wrong key')
    return
  }
  const { options, sources } = resolution
  ok(!JSON.stringify(describeOptions(options, sources)).includes(key), 'the options show the key')
  ok(/^[\x21-\x7e]*$/.test(options.apiKey.reveal()), 'the key is no header')
  if (resolution.state === 'on') new URL(`${options.url}/logs/${encodeURIComponent(options.logBucket!)}`)
  for (const [name, value] of Object.entries(options)) {
    ok(typeof value !== 'number' || Number.isFinite(value), `${name} is ${value}`)
  }
}
