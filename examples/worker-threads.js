// Worker threads that log and track: each has a delivery of its own, and may end when it likes. Run with SLUICE_URL, SLUICE_API_KEY and
// SLUICE_BUCKET set.
import { once } from 'node:events'
import { isMainThread, Worker, workerData } from 'node:worker_threads'
import pino from 'pino'
import { track } from 'sluice'
import { sluicePino } from 'sluice/pino'

const imageResized = 1001
const logger = pino(sluicePino())

if (isMainThread) {
  const images = ['cat.png', 'dog.png', 'owl.png']
  const threads = images.map((image) => new Worker(new URL(import.meta.url), { workerData: image }))
  await Promise.all(threads.map((thread) => once(thread, 'exit')))
  logger.info({ images: images.length }, 'all images resized')
} else {
  logger.info({ image: workerData }, 'image resized')
  track(imageResized)
}
