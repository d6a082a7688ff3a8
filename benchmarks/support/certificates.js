const file = (/** @type {string} */ name) => new URL(`../../test/support/certificates/${name}.pem`, import.meta.url)

/** Key and certificate of a server on loopback. The certificate is its own authority. */
export const certificates = { key: file('key'), cert: file('foreign') }
