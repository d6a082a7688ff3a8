/**
 * A section of CHANGELOG.md: `## [1.2.0] - 2026-01-31`, or `## [Unreleased]`.
 * @typedef {{ readonly heading: string, readonly text: string }} Section
 */

/**
 * Problems of CHANGELOG.md that stop the release of a version. Its form is that of https://keepachangelog.com: unreleased changes stand
 * below [Unreleased], which is empty when a version is released. Versions are dated, the newest first.
 * @param {string} text
 * @param {{ readonly version: string, readonly today: string }} release today as YYYY-MM-DD
 * @returns {string[]}
 */
export function changelogProblems(text, { version, today }) {
  const sections = sectionsOf(text)
  const unreleased = sections.findIndex(({ heading }) => heading === '[Unreleased]')
  const problems = []
  if (unreleased > 0) problems.push('[Unreleased] comes first')
  if (unreleased >= 0 && sections[unreleased]?.text !== '') {
    problems.push(`[Unreleased] is not empty: what is below it belongs to [${version}], or is not for this release`)
  }
  const versions = sections.filter((_, index) => index !== unreleased)
  const own = versions.findIndex((section) => versionOf(section) === version)
  const section = versions[own]
  if (section === undefined) return [...problems, `there is no section ## [${version}] - ${today}`]
  if (own > 0) problems.push(`[${version}] is below [${versionOf(/** @type {Section} */ (versions[0]))}]`)
  if (section.text === '') problems.push(`[${version}] is empty`)
  if (versions.filter((each) => versionOf(each) === version).length > 1) problems.push(`[${version}] is there twice`)
  const date = /^\[[^\]]+\] - (\d{4}-\d{2}-\d{2})$/.exec(section.heading)?.[1]
  if (date === undefined || !isDate(date)) {
    problems.push(`expected ## [${version}] - ${today}, with the day of the release, got ## ${section.heading}`)
  } else if (date > today) problems.push(`[${version}] is of ${date}, which is to come`)
  return problems
}

/**
 * The section of a version in CHANGELOG.md, without its heading.
 * @param {string} text
 * @param {string} version
 */
export function changelogOf(text, version) {
  return sectionsOf(text).find((section) => versionOf(section) === version)?.text
}

/**
 * @param {string} text
 * @returns {Section[]}
 */
function sectionsOf(text) {
  const [, ...sections] = `\n${text.replaceAll('\r\n', '\n')}`.split('\n## ')
  return sections.map((section) => {
    const [heading = '', ...lines] = section.split('\n')
    // Below the last section stand the addresses of the versions, which are no entry.
    const entries = lines.filter((line) => !/^\[[^\]]+\]: \S+$/.test(line))
    return { heading: heading.trim(), text: entries.join('\n').trim() }
  })
}

/** @param {Section} section */
function versionOf({ heading }) {
  return /^\[?([^\]\s]+)\]?/.exec(heading)?.[1]
}

/** @param {string} date */
function isDate(date) {
  const time = Date.parse(`${date}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(date)
}
