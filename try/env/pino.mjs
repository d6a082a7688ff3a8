import pino from 'pino'

const l = pino({ transport: { target: 'sluice/pino', options: process.env.OPT ? JSON.parse(process.env.OPT) : {} } })
l.info('x')
