import { logger } from '../logger.server'

export function loader() {
  logger.info('page rendered')
  return null
}

export default function Home() {
  return <h1>Orders</h1>
}
