import { fileURLToPath } from 'node:url'

const file = (/** @type {string} */ name) => new URL(`../../test/support/certificates/${name}.pem`, import.meta.url)

/** Key and certificate of a server on loopback. The certificate is its own authority. */
export const certificates = { key: file('key'), cert: file('foreign') }

/** Variables of a process that trusts it. */
export const trusting = { NODE_EXTRA_CA_CERTS: fileURLToPath(certificates.cert) }
