import pino from 'pino'
import { flush, stats, track } from 'sluice'
import { health } from 'sluice/metrics'
import { sluicePino } from 'sluice/pino'
import { SluiceTransport } from 'sluice/winston'
import winston from 'winston'

const w = winston.createLogger({ transports: [new SluiceTransport()] })
const p = pino(sluicePino())
track(1)
w.info('a')
p.info('b')
console.log(health().status, health().reason)
process.loadEnvFile(process.env.FILE ?? '.env')
await new Promise((r) => setTimeout(r, 1100))
track(1)
w.info('a')
p.info('b')
const l = await flush()
console.log(l.accepted, l.delivered, health().status)
