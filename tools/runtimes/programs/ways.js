/**
 * The ways to log a record, each as the README shows it. Every one makes its logger and returns what logs one record with it.
 *
 * @type {Readonly<Record<string, () => Promise<(number: number) => unknown>>>}
 */
export const ways = {
  'pino target': async () => {
    const { pino } = await import('pino')
    // A name that the target knows from pino's configuration alone.
    const logger = pino({ messageKey: 'text', transport: { target: 'sluice/pino' } })
    return (number) => logger.info(`line ${number}`)
  },
  'sluicePino()': async () => {
    const { pino } = await import('pino')
    const { sluicePino } = await import('sluice/pino')
    const logger = pino(sluicePino())
    return (number) => logger.info(`line ${number}`)
  },
  winston: async () => {
    const { default: winston } = await import('winston')
    const { SluiceTransport } = await import('sluice/winston')
    const logger = winston.createLogger({ transports: [new SluiceTransport()] })
    return (number) => logger.info(`line ${number}`)
  },
  track: async () => {
    const { track } = await import('sluice')
    return (number) => track(number)
  },
}
