import { trusting } from '../certificates.js'
import { firstNumber } from '../record-count.js'
import { pinoLines } from './pino-targets.js'
import { winstonLines } from './winston-transports.js'

/** @typedef {import('./order.js').Contestant} Contestant */

const pinoTarget = {
  // Without an import of 'sluice', as an application has it that logs and nothing else.
  start: () => pinoLines((pino) => pino({ transport: { target: 'sluice/pino' } })),
}

/** @type {Record<string, Omit<Contestant, 'library'>>} */
const subjects = {
  'pino target': pinoTarget,
  sluicePino: {
    start: async () => {
      const [{ sluicePino }, { close }] = await Promise.all([import('sluice/pino'), import('sluice')])
      return { ...(await pinoLines((pino) => pino(sluicePino()))), close }
    },
  },
  winston: {
    start: async () => {
      const { SluiceTransport } = await import('sluice/winston')
      return winstonLines(() => new SluiceTransport())
    },
  },
  track: {
    // As the receiver does it. Where a server does not, a repetition would be counted twice, and values are not pipelined.
    server: { mark: '"eventId":', echo: true },
    start: track,
  },
}

async function track() {
  const { track, close } = await import('sluice')
  return { log: (/** @type {number} */ number) => track(firstNumber + number), close }
}

/** Each as it is by default, and with the sure sender alone. */
/** @type {Record<string, Contestant>} */
export const sluice = {
  ...Object.fromEntries(
    Object.entries(subjects).flatMap(([name, subject]) => [
      [`Sluice: ${name}`, { library: 'sluice', ...subject }],
      [`Sluice: ${name}, pipelining off`, { library: 'sluice', ...subject, env: { SLUICE_PIPELINING: 'off' } }],
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(subjects).map(([name, subject]) => [
      `Sluice: ${name}, https`,
      { library: 'sluice', ...subject, server: { ...subject.server, secure: true }, env: trusting },
    ]),
  ),
  'Sluice: pino target, node:http': { library: 'sluice', ...pinoTarget, server: { node: true } },
  'Sluice: pino target, node:https': {
    library: 'sluice',
    ...pinoTarget,
    server: { node: true, secure: true },
    env: trusting,
  },
  'Sluice: track, keys not echoed': { library: 'sluice', server: { mark: '"eventId":' }, start: track },
}
