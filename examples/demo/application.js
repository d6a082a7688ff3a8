import { close } from 'sluice'
import { startJobs } from './jobs.js'
import { buildShop } from './shop.js'

// The application of the demo: the shop and its jobs in one process, stopped by SIGTERM as an orchestrator does it.
const shop = buildShop()
const jobs = startJobs()

process.once('SIGTERM', async () => {
  await shop.close()
  jobs.stop()
  process.stdout.write(`${JSON.stringify(await close())}\n`)
})

process.stdout.write(`${await shop.listen({ port: 0, host: '127.0.0.1' })}\n`)
