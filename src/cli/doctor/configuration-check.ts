import { join } from 'node:path'
import { ConfigError } from '../../errors/sluice-error.js'
import type { Environment } from '../../options/environment.js'
import { type DescribedOption, describeOptions, type ResolvedOptions } from '../../options/options.js'
import { type Resolution, resolve } from '../../options/resolve.js'
import { misspeltVariables } from '../../options/variables.js'
import { inUnit } from '../../records/time.js'
import { readPlainFile } from '../../runtime/plain-file.js'
import { bad, type Finding, good } from './finding.js'

/** The options of the environment, with the findings about them. */
export interface Configuration {
  readonly findings: readonly Finding[]
  readonly described: readonly DescribedOption[]
  /** Undefined when no destination can be used. */
  readonly options: ResolvedOptions | undefined
}

/** Variables are often in a file that only the application is started with. */
function incomplete(found: string, folder: string): Finding {
  if (!namesVariables(join(folder, '.env'))) {
    const advice = 'set SLUICE_URL, SLUICE_API_KEY (or SLUICE_API_KEY_FILE) and SLUICE_BUCKET'
    return bad('configuration', { text: found, advice })
  }
  const text = `${found}; .env in this folder has variables of Sluice, but nothing has loaded it`
  const advice =
    'start your application with node --env-file=.env, and this check with ' +
    'node --env-file=.env node_modules/sluice/dist/cli.js doctor'
  return bad('configuration', { text, advice })
}

/** A larger file is not read. */
const maxEnvBytes = 1_048_576

function namesVariables(file: string): boolean {
  try {
    return /^[ \t]*(export[ \t]+)?SLUICE_/m.test(
      readPlainFile(file, { maxBytes: maxEnvBytes, follow: true }).toString('utf8'),
    )
  } catch {
    return false
  }
}

/** Read the configuration as an application in this folder would. */
export function readConfiguration(environment: Environment, folder: string): Configuration {
  const findings: Finding[] = misspeltVariables(environment).map(({ variable, nearest }) =>
    bad('variables', { text: `${variable} is not known`, advice: `did you mean ${nearest}?` }),
  )
  try {
    const resolution = resolved(environment, folder)
    const described = describeOptions(resolution.options, resolution.sources)
    if (resolution.state === 'on') {
      const { options } = resolution
      return { findings: [...findings, good('configuration', 'complete'), timeStamps(options)], described, options }
    }
    if (resolution.reason === 'not-configured') {
      findings.push(incomplete('nothing is configured: Sluice is off', folder))
      return { findings, described, options: undefined }
    }
    const text = 'Sluice is disabled: nothing is delivered'
    findings.push(bad('configuration', { text, advice: 'unset SLUICE_DISABLED' }))
    const { SLUICE_DISABLED: _, ...rest } = environment
    const enabled = readConfiguration(rest, folder)
    return { findings, described, options: enabled.options }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const isMissing = error.code === 'SLUICE_CONFIG_MISSING'
    const wrong = { text: error.message, advice: `correct ${error.variable ?? error.option}` }
    findings.push(isMissing ? incomplete(error.message, folder) : bad('configuration', wrong))
    return { findings, described: describeIncomplete(environment, folder), options: undefined }
  }
}

/** The API does not say in which unit it takes times. The wrong one is accepted, and shows times in 1970, or far in the future. */
function timeStamps({ timestampUnit }: ResolvedOptions): Finding {
  const [unit, other, setting] =
    timestampUnit === 's' ? ['seconds', 'milliseconds', 'ms'] : ['milliseconds', 'seconds', 's']
  const example = inUnit(Date.now(), timestampUnit)
  const text = `in ${unit}, such as ${example}; for a service that takes them in ${other}: SLUICE_TIMESTAMP_UNIT=${setting}`
  return good('time stamps', text)
}

/** The options of an incomplete configuration: resolved as if disabled, because then no option is required. None when an option is wrong. */
function describeIncomplete(environment: Environment, folder: string): readonly DescribedOption[] {
  try {
    const disabled = resolve({}, { environment: { ...environment, SLUICE_DISABLED: 'true' }, needs: 'logs', folder })
    const described = describeOptions(disabled.options, disabled.sources)
    return described.map((each) => (each.name === 'disabled' ? { ...each, value: 'false', source: 'default' } : each))
  } catch {
    return []
  }
}

/** One bucket suffices: an application may only log, or only track. */
function resolved(environment: Environment, folder: string): Resolution {
  try {
    return resolve({}, { environment, needs: 'logs', folder })
  } catch (error) {
    if (!(error instanceof ConfigError) || error.option !== 'bucket') throw error
    return resolve({}, { environment, needs: 'values', folder })
  }
}
