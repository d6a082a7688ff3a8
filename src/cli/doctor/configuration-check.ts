import { join } from 'node:path'
import { ConfigError } from '../../errors/sluice-error.js'
import { type Environment, misspeltVariables } from '../../options/environment.js'
import { type DescribedOption, describeOptions } from '../../options/option-value.js'
import type { ResolvedOptions } from '../../options/options.js'
import { readPlainFile } from '../../options/plain-file.js'
import { type Resolution, resolve } from '../../options/resolve.js'
import { bad, type Finding, good } from './finding.js'

/** What the environment says, and what is to be said of that. */
export interface Configuration {
  readonly findings: readonly Finding[]
  readonly described: readonly DescribedOption[]
  /** Undefined when there is no destination that can be used. */
  readonly options: ResolvedOptions | undefined
}

/** Many keep their variables in a file that their application is started with, and no other program. */
function whatToSet(folder: string): string {
  const variables = 'set SLUICE_URL, SLUICE_API_KEY (or SLUICE_API_KEY_FILE) and SLUICE_BUCKET'
  const withFile = 'node --env-file=.env node_modules/sluice/bin/sluice.js doctor'
  return namesOurVariables(join(folder, '.env')) ? `${variables}, or read .env, too: ${withFile}` : variables
}

/** More than such a file has. */
const maxEnvBytes = 1_048_576

function namesOurVariables(file: string): boolean {
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
      return { findings: [...findings, good('configuration', 'complete')], described, options: resolution.options }
    }
    if (resolution.reason === 'not-configured') {
      findings.push(bad('configuration', { text: 'nothing is configured: Sluice is off', advice: whatToSet(folder) }))
      return { findings, described, options: undefined }
    }
    const text = 'Sluice is disabled: nothing is delivered'
    findings.push(bad('configuration', { text, advice: 'unset SLUICE_DISABLED' }))
    const { SLUICE_DISABLED: _, ...rest } = environment
    const otherwise = readConfiguration(rest, folder)
    return { findings, described, options: otherwise.options }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const advice = error.code === 'SLUICE_CONFIG_MISSING' ? whatToSet(folder) : `mend ${error.variable ?? error.option}`
    findings.push(bad('configuration', { text: error.message, advice }))
    return { findings, described: describeIncomplete(environment, folder), options: undefined }
  }
}

/** What there is of a configuration in which something is missing: where Sluice is disabled nothing need be there. Of a wrong one nothing. */
function describeIncomplete(environment: Environment, folder: string): readonly DescribedOption[] {
  try {
    const disabled = resolve({}, { environment: { ...environment, SLUICE_DISABLED: 'true' }, needs: 'logs', folder })
    const described = describeOptions(disabled.options, disabled.sources)
    return described.map((each) => (each.name === 'disabled' ? { ...each, value: 'false', source: 'default' } : each))
  } catch {
    return []
  }
}

/** One lane suffices: an application may log and track nothing, or the other way round. */
function resolved(environment: Environment, folder: string): Resolution {
  try {
    return resolve({}, { environment, needs: 'logs', folder })
  } catch (error) {
    if (!(error instanceof ConfigError) || error.option !== 'bucket') throw error
    return resolve({}, { environment, needs: 'values', folder })
  }
}
