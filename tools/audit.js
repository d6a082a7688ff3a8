import { spawnSync } from 'node:child_process'

// `npm audit` of production and of development, which undici in the package belongs to. Fails on findings of moderate severity or more.
// Without a network, or where the registry has no such service, it says so and passes.
const { stdout } = spawnSync('npm', ['audit', '--json', '--audit-level=moderate', '--loglevel=silent'], {
  encoding: 'utf8',
  timeout: 60_000,
})
const answer = answerIn(stdout ?? '')
const counts = answer?.metadata?.vulnerabilities
if (counts === undefined) {
  process.stdout.write('Not audited: the registry did not answer the question of npm audit.\n')
} else {
  const found = ['moderate', 'high', 'critical'].filter((severity) => counts[severity] > 0)
  process.stdout.write(`${found.map((severity) => `${counts[severity]} ${severity}`).join(', ') || 'Nothing found.'}\n`)
  if (found.length > 0) {
    process.stdout.write(`${Object.keys(answer.vulnerabilities).join(', ')}: see npm audit\n`)
    process.exitCode = 1
  }
}

/** @param {string} text */
function answerIn(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
