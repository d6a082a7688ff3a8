import { describe, expect, it } from 'vitest'
import { changelogProblems } from '../../../tools/release/changelog.js'

const entries = '### Added\n\n- `track`\n  and more.'

describe('the check of CHANGELOG.md', () => {
  const release = { version: '1.2.0', today: '2026-03-04' }
  const problemsOf = (text: string) => changelogProblems(text, release)

  it.each([
    ['the form of Keep a Changelog', `# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2026-03-04\n\n${entries}\n`],
    ['a day before today', `# Changelog\n\n## [1.2.0] - 2026-02-28\n\n${entries}\n`],
    [
      'older versions, line ends of Windows, and addresses below',
      `# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2026-03-04\n\n${entries}\n\n## [1.1.0] - 2025-01-01\n\n- a\n\n[Unreleased]: https://example.com\n`.replaceAll(
        '\n',
        '\r\n',
      ),
    ],
    [
      'an address alone below [Unreleased]',
      `## [Unreleased]\n\n[1.2.0]: https://a.b/c\n\n## [1.2.0] - 2026-03-04\n- a`,
    ],
  ])('takes %s', (_, text) => {
    expect(problemsOf(text)).toEqual([])
  })

  it.each([
    ['an empty file', '', ['there is no section ## [1.2.0] - 2026-03-04']],
    ['another version', `## [1.2.01] - 2026-03-04\n- a`, ['there is no section ## [1.2.0] - 2026-03-04']],
    [
      'what is not released yet',
      `## [Unreleased]\n- more\n\n## [1.2.0] - 2026-03-04\n- a`,
      ['[Unreleased] is not empty: what is below it belongs to [1.2.0], or is not for this release'],
    ],
    ['no day', `## [1.2.0]\n- a`, ['expected ## [1.2.0] - 2026-03-04, with the day of the release, got ## [1.2.0]']],
    [
      'no brackets',
      `## 1.2.0 - 2026-03-04\n- a`,
      ['expected ## [1.2.0] - 2026-03-04, with the day of the release, got ## 1.2.0 - 2026-03-04'],
    ],
    [
      'a day that no month has',
      `## [1.2.0] - 2026-02-30\n- a`,
      ['expected ## [1.2.0] - 2026-03-04, with the day of the release, got ## [1.2.0] - 2026-02-30'],
    ],
    ['a day to come', `## [1.2.0] - 2026-03-05\n- a`, ['[1.2.0] is of 2026-03-05, which is to come']],
    ['no entry', `## [1.2.0] - 2026-03-04\n\n## [1.1.0] - 2026-01-01\n- a`, ['[1.2.0] is empty']],
    ['a wrong order', `## [1.1.0] - 2026-01-01\n- a\n\n## [1.2.0] - 2026-03-04\n- a`, ['[1.2.0] is below [1.1.0]']],
    ['[Unreleased] below', `## [1.2.0] - 2026-03-04\n- a\n\n## [Unreleased]\n`, ['[Unreleased] comes first']],
    ['a section twice', `## [1.2.0] - 2026-03-04\n- a\n\n## [1.2.0] - 2026-03-03\n- a`, ['[1.2.0] is there twice']],
  ])('refuses %s', (_, text, problems) => {
    expect(problemsOf(text)).toEqual(problems)
  })
})
