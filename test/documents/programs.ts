/** The expected result of a block of code that runs alone, with `SLUICE_URL`, `SLUICE_API_KEY` and `SLUICE_BUCKET` of a receiver. */
export interface Course {
  /** Log records that arrive. */
  readonly logs?: number
  /** Value records that arrive. */
  readonly values?: number
  /** Titles of the entries of the content type `article`, which is there. */
  readonly entries?: readonly string[]
  /** Its output. @default nothing, or the block of text behind it */
  readonly stdout?: string | RegExp
  /** Code that stands for the rest of the application. */
  readonly after?: string
  /** Blocks that stand in files beside it, by the name of the file. */
  readonly files?: Readonly<Record<string, string>>
  /** It is a file of tests: vitest runs it. */
  readonly tests?: true
}

/** The blocks of the documents that are run, by name. */
export const courses: Readonly<Record<string, Course>> = {
  'README.md#sluice, js 1': { logs: 1, values: 1 },
  'README.md#use, js 1': { logs: 1, stdout: /^\{"level":30,.*"orderId":7,"msg":"order placed"\}\n$/ },
  'README.md#use, js 2': { logs: 1 },
  'README.md#use, js 3': { logs: 1 },
  'README.md#use, js 4': { values: 1 },
  'AGENTS.md#events, js 1': { values: 1 },
  'docs/content.md#content, js 1': { entries: ['Hello', 'Old'], stdout: 'article 2\n1 of 1\nstring\n' },
  'docs/context.md#ids-on-every-line, js 1': { logs: 1 },
  'docs/context.md#ids-on-every-line, js 2': { logs: 1 },
  'docs/delivery.md#the-ledger, js 1': { values: 1, stdout: '1 1\n' },
  'docs/delivery.md#reports, js 1': { values: 1 },
  'docs/delivery.md#rejected-records, js 1': { values: 1, stdout: '' },
  'docs/events.md#events, js 1': { values: 2 },
  'docs/events.md#a-catalogue, js 1': { values: 2, files: { 'events.json': 'docs/events.md#a-catalogue, json 1' } },
  'docs/events.md#keys, js 1': { values: 1 },
  'docs/events.md#properties, js 1': { logs: 1, values: 1 },
  'docs/frameworks.md#one-line-for-each-request, js 1': {
    logs: 2,
    after:
      "await new Promise((listening) => server.once('listening', listening))\nconst { port } = /** @type {any} */ (server.address())\nawait fetch('http://127.0.0.1:' + port + '/orders/7')\nprocess.kill(process.pid, 'SIGTERM')",
  },
  'docs/frameworks.md#one-line-for-each-request, js 2': {
    logs: 2,
    after: "await app.inject('/orders/7')\nawait app.close()",
  },
  'docs/levels.md#another-level-for-a-while, js 1': { logs: 1 },
  'docs/lifetime.md#your-own-listener, js 1': {
    values: 1,
    after:
      "await new Promise((listening) => server.once('listening', listening))\n;(await import('sluice')).track(1)\nprocess.kill(process.pid, 'SIGTERM')",
  },
  'docs/lifetime.md#serverless, js 1': { logs: 1, after: 'await handler()' },
  'docs/lifetime.md#serverless, js 2': {
    logs: 1,
    after:
      'const promises = []\nhandler({ waitUntil: (promise) => promises.push(promise) })\nawait Promise.all(promises)\nconsole.log(promises.length)',
    stdout: '1\n',
  },
  'docs/nextjs.md#nextjs, js 1': { logs: 1, after: "logger.info('page rendered')" },
  'docs/nextjs.md#pinos-target, js 1': { logs: 1, after: "logger.info('page rendered')" },
  'docs/opentelemetry.md#opentelemetry, js 1': { logs: 1 },
  'docs/metrics.md#metrics-and-health, js 1': {
    values: 1,
    after: `
      await new Promise((done) => server.once('listening', done))
      const address = server.address()
      const get = (path) => fetch('http://127.0.0.1:' + (typeof address === 'object' && address?.port) + path)
      const page = await get('/metrics')
      const text = await page.text()
      console.log(page.headers.get('content-type'), text.match(/sluice_records_accepted_total.*values.*/)?.[0])
      const ready = await get('/ready')
      console.log(ready.status, /** @type {any} */ (await ready.json()).status, (await get('/other')).status)
      server.close()`,
    stdout:
      'text/plain; version=0.0.4; charset=utf-8 sluice_records_accepted_total{kind="values",bucket="demo"} 1\n200 ok 404\n',
  },
  'docs/metrics.md#opentelemetry, js 1': {},
  'docs/reading.md#reading-back, js 1': { stdout: '0 0\n{} 0\ndemo true {}\n' },
  'docs/records.md#errors-of-pino, js 1': { logs: 1 },
  'docs/records.md#errors-of-pino, js 2': { logs: 1 },
  'docs/redaction.md#redaction, js 1': { logs: 1 },
  'docs/volume.md#sampled-lines, js 1': { logs: 1 },
  'docs/volume.md#lines-that-only-an-error-needs, js 1': { logs: 2 },
  'docs/testing.md#in-your-tests, js 1': { tests: true },
  'docs/testing.md#in-your-tests, js 2': { stdout: 'string string demo\n' },
}

/** The blocks that are not run, and why. Their types are checked all the same. */
export const unrun: Readonly<Record<string, string>> = {
  'docs/testing.md#jest-in-commonjs, js 1': 'the configuration of jest, of examples/frameworks/jest',
  'docs/content.md#content, ts 1': 'TypeScript, which not every Node.js that is supported runs',
}
