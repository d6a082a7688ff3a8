/** Longest path, in characters. */
const maxPath = 200

/** Folders in which the files of an application begin, wherever it is deployed. */
const sourceFolders: ReadonlySet<string> = new Set(['src', 'dist', 'lib', 'build', 'out', 'server', 'packages'])
/** Folders in which applications are installed, some with the name of a folder of sources. */
const installFolders =
  /^(?:\/usr(?:\/local)?\/lib|\/var\/lib|\/(?:home|Users)\/[^/]+|[a-z]:\/Users\/[^/]+|\/\/[^/]+)\//i
/** The folder of one release ends here. */
const release = /^.*\/(?:(?:releases|versions|deployments|deploys|builds|revisions)\/[^/]+|current)\//

/**
 * A path of a file of an application, the same on every machine and in every release: from the last folder of sources on, or else the name of the
 * file alone. What bundlers change with each build has a placeholder.
 */
export function ownPath(place: string): string {
  const path = place
    .slice(-1000)
    .replace(/(?::\d+){1,2}$/, '')
    .replace(/[?#].*$/, '')
    .replace(/^[a-z-]{2,20}:\/\/[^/\\]*/i, '')
    .replace(/[\\/]+/g, '/')
  const inside = (place.startsWith('\\\\') ? `/${path}` : path).replace(installFolders, '/').replace(release, '/')
  const segments = inside
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.' && !/^[a-z]:$/i.test(segment))
  const root = segments.slice(0, -1).findLastIndex((segment) => sourceFolders.has(segment))
  const kept = segments.slice(root === -1 ? -1 : root)
  return kept.map(withoutHash).join('/').slice(-maxPath)
}

/** Bundlers give a file a new name with each build: `main-3f9c21ab.js`, `chunk-QWERTYUI.js`, `117.3f9c21.js`. */
function withoutHash(segment: string): string {
  return segment
    .replace(/^v?\d+(?:[._-]\d+)*(?=[.]\w+|$)/, (number) => (/^v\d+$/.test(number) ? number : '<n>'))
    .replace(/(?<=^|[-._~])[\w-]{8}(?=\.\w)/g, (text) => (isWords(text) ? text : '<id>'))
    .replace(/(?<=^|[-._~])(?=\w*\d)(?:\w{8,}|[\da-f]*[a-f][\da-f]{5,}|\d[\da-f]{5,})(?=[.]|$)/g, '<id>')
}

/** True for names of people's making: each part is a word, or words in camel case. */
function isWords(text: string): boolean {
  return text.split(/[-_]/).every((part) => /^(?:[A-Z]?[a-z]+(?:[A-Z][a-z]{2,})*)?$/.test(part))
}
