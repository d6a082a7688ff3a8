/**
 * Two hours of a shop. Version 2.4.0 of payments, deployed an hour ago, cannot charge cards in francs: orders of the tenant alpina fail,
 * and stock keeps what they reserve until it has no place on web-2. It was rolled back half an hour ago.
 */
export interface Incident {
  readonly logs: readonly object[]
  readonly values: readonly object[]
  /** Minutes of the incident as ISO 8601. */
  at(minute: number): string
}

export const events = { orderPlaced: 1001, orderPaid: 1002, signedUp: 1003 } as const
export const minutes = { deployed: 60, shopFails: 63, stockFails: 70, rolledBack: 90, end: 120 } as const

const minuteMs = 60_000
const stack = '\n    at chargeCard (src/charge.js:41:17)\n    at async pay (src/pay.js:12:5)'

export function incident(nowMs: number): Incident {
  const beginMs = Math.floor(nowMs / minuteMs) * minuteMs - minutes.end * minuteMs
  const logs: object[] = []
  const values: object[] = []
  for (let minute = 0; minute < minutes.end; minute++) {
    const isBroken = minute >= minutes.deployed && minute < minutes.rolledBack
    const tenant = minute % 3 === 0 ? 'alpina' : 'nordic'
    const order = { reqId: `req-${minute}`, tenant }
    const fails = isBroken && tenant === 'alpina'
    const version = isBroken ? '2.4.0' : '2.3.0'
    const payments = { appName: 'payments', appVersion: version, machineName: 'web-1', env: 'prod' }
    const shop = { appName: 'shop', appVersion: '5.0.1', machineName: 'web-1', env: 'prod' }
    const stock = {
      appName: 'stock',
      appVersion: '1.9.0',
      machineName: minute % 2 === 0 ? 'web-1' : 'web-2',
      env: 'prod',
    }
    log(minute, 0, { ...shop, level: 'info', message: `checkout begun ${json({ ...order, route: '/checkout' })}` })
    log(minute, 1, { ...stock, level: 'info', message: `reserved ${json({ ...order, item: 17 })}` })
    if (minute === 0) log(minute, 0, { ...payments, level: 'info', message: 'started' })
    if (minute === minutes.deployed) log(minute, 0, { ...payments, level: 'info', message: 'started' })
    if (fails) {
      const words = `charge failed ${json({ ...order, currency: 'CHF' })}`
      const error = `\nTypeError: Cannot read properties of undefined (reading 'minorUnits')${stack}`
      log(minute, 2, { ...payments, level: 'error', message: words + error })
    } else log(minute, 2, { ...payments, level: 'info', message: `charged ${json({ ...order, currency: 'SEK' })}` })
    if (fails && minute >= minutes.shopFails) {
      const answer = json({ ...order, route: '/checkout', upstream: 'payments', res: { statusCode: 502 } })
      log(minute, 3, { ...shop, level: 'error', message: `checkout failed ${answer}` })
    }
    if (minute >= minutes.stockFails && minute < minutes.rolledBack && minute % 2 === 1) {
      log(minute, 4, { ...stock, level: 'error', message: `cannot reserve: no space left ${json({ item: 17 })}` })
    }
    const ms = minute % 10 === 4 ? 2400 : 35
    const route = minute % 10 === 4 ? '/search' : '/home'
    log(minute, 5, { ...shop, level: 'info', message: `answered ${json({ route, ms, res: { statusCode: 200 } })}` })
    values.push({ timeStamp: timeOf(minute), eventId: events.orderPlaced, appName: 'shop' })
    if (!isBroken && minute < minutes.rolledBack)
      values.push({ timeStamp: timeOf(minute), eventId: events.orderPaid, appName: 'payments' })
    if (minute % 5 === 0) values.push({ timeStamp: timeOf(minute), eventId: events.signedUp, appName: 'shop' })
  }
  return { logs, values, at: (minute) => new Date(timeOf(minute)).toISOString() }

  function timeOf(minute: number, second = 0): number {
    return beginMs + minute * minuteMs + second * 1000
  }

  function log(minute: number, second: number, fields: object): void {
    logs.push({ timeStamp: timeOf(minute, second), ...fields })
  }
}

function json(context: object): string {
  return JSON.stringify(context)
}
