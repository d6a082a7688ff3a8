import { firstNumber } from '../record-count.js'

/** The text before the number of a record. */
export const mark = 'record-'
export const message = 'order placed by a customer who reads the whole of what is written about shoes'
export const shop = 'the northern branch by the harbour'

/** @param {number} number */
export const fieldsOf = (number) => ({ orderId: number, customer: 'c-17', shop, total: 99.5 })

/**
 * With these fields and the head that pino writes it is a line of about 250 bytes.
 *
 * @param {number} number
 */
export const textOf = (number) => `${message}, ${mark}${firstNumber + number}`

/**
 * @typedef {{
 *   log: (number: number) => void,
 *   room?: () => Promise<void>,
 *   close?: () => unknown,
 * }} Subject `room`: until the worker has caught up; `close`: as its documentation says that an application ends with it
 */
/**
 * @typedef {{
 *   library?: string,
 *   server?: import('../cheap-server.js').ServerOptions | null,
 *   env?: Record<string, string>,
 *   start: (url: string) => Promise<Subject>,
 * }} Contestant `library`: the package whose version the table tells; `server`: how it must answer, null for none at all;
 *   `env`: variables of its process
 */
