import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/**
 * Problems of the working copy that stop a release: it must be the commit that is main everywhere.
 * @param {URL} root
 * @param {string} tag
 * @returns {string[]}
 */
export function workingCopyProblems(root, tag) {
  const problems = []
  const changed = git(root, 'status', '--porcelain')
    .split('\n')
    .filter((line) => line !== '')
  if (changed.length > 0)
    problems.push(`changes that are not committed: ${changed.map((line) => line.slice(3)).join(', ')}`)
  const branch = git(root, 'branch', '--show-current')
  if (branch !== 'main') problems.push(`releases are made on main, and this is ${branch || 'no branch'}`)
  const head = git(root, 'rev-parse', 'HEAD')
  const remote = new Map(
    git(root, 'ls-remote', 'origin', 'refs/heads/main', `refs/tags/${tag}`, `refs/tags/${tag}^{}`)
      .split('\n')
      .map((line) => /** @type {[string, string]} */ (line.split('\t').reverse())),
  )
  if (remote.get('refs/heads/main') !== head) problems.push('HEAD is not main of origin: pull, or push, first')
  const tagged = remote.get(`refs/tags/${tag}^{}`) ?? remote.get(`refs/tags/${tag}`)
  if (tagged !== undefined) problems.push(`${tag} is released already, from ${tagged.slice(0, 12)}`)
  const own = git(root, 'tag', '--list', tag)
  if (tagged === undefined && own !== '' && git(root, 'rev-list', '-n', '1', tag) !== head) {
    problems.push(`there is a tag ${tag} here that is not HEAD: git tag --delete ${tag}`)
  }
  return problems
}

/**
 * Runs git and returns its output. Throws with its stderr when it fails.
 * @param {URL} root
 * @param {...string} written
 */
export function git(root, ...written) {
  const { status, stdout, stderr } = spawnSync('git', written, { cwd: fileURLToPath(root), encoding: 'utf8' })
  if (status !== 0) throw new Error(`git ${written.join(' ')}: ${(stderr ?? '').trim()}`)
  return stdout.trimEnd()
}
