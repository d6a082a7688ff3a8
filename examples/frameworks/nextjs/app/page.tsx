import { connection } from 'next/server'
import { track } from 'sluice'
import { logger } from '../logger'

export default async function Page() {
  await connection() // rendered for each request, and not when the application is built
  logger.info('page rendered')
  track(1002)
  return <h1>Orders</h1>
}
