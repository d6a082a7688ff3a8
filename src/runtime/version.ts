/** Version of this package: written down, for a bundle has no package.json to read. A test compares the two. */
export const packageVersion = '0.1.0'

/** The header of every request. */
export const userAgent = `sluice/${packageVersion} node/${process.versions.node}`
