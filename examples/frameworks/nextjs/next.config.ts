import type { NextConfig } from 'next'

const config: NextConfig = {
  serverExternalPackages: ['sluice'], // for `next build --webpack`: delivery then has a worker; Turbopack needs no such line
}

export default config
