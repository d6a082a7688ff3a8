// A worker whose key is a Docker secret: the program knows nothing of it, compose.yaml beside it sets SLUICE_API_KEY_FILE. With
// SLUICE_URL and SLUICE_BUCKET set.
import { track } from 'sluice'
import { SluiceTransport } from 'sluice/winston'
import winston from 'winston'

const queueLooked = 1001
const { EVERY_MS = 60_000 } = process.env
const logger = winston.createLogger({ transports: [new SluiceTransport()] })

let looks = 0
function look() {
  track(queueLooked)
  logger.info('looked into the queue', { looks: ++looks })
}

look()
setInterval(look, Number(EVERY_MS))
