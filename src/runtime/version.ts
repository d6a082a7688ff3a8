/** Version of this package. A bundle has no package.json to read, so it stands here; a test compares the two. */
export const packageVersion = '0.1.0'

/** The header `user-agent` of every request. */
export const userAgent = `sluice/${packageVersion} node/${process.versions.node}`
