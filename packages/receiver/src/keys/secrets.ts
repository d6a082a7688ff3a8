import { hash, randomBytes, timingSafeEqual } from 'node:crypto'

/** 256 random bits as text: one round of SHA-256 is enough to hide them. */
export function newSecret(prefix = ''): string {
  return `${prefix}${randomBytes(32).toString('base64url')}`
}

/** SHA-256: two texts compare in a time that does not tell where they differ. */
export function hashOf(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}

/** The last of the candidates that has the hash of the secret. The time does not depend on which byte differs. */
export function withSecret<Candidate extends { readonly hash: Buffer }>(
  secret: string,
  candidates: readonly Candidate[],
): Candidate | undefined {
  const hashed = hashOf(secret)
  let found: Candidate | undefined
  for (const candidate of candidates) found = timingSafeEqual(candidate.hash, hashed) ? candidate : found
  return found
}
