import fastify from 'fastify'
import { acceptedBody } from '../../packages/receiver/dist/schemas/envelopes.js'
import { logRecordSchema } from '../../packages/receiver/dist/schemas/records.js'

// The least that a fastify server can do for a log record: parse, validate with the receiver's schema, answer. Prints its URL.
const app = fastify({
  ajv: {
    customOptions: { coerceTypes: false, removeAdditional: false, allErrors: true, verbose: true, useDefaults: false },
  },
})
app.post('/logs/:bucketId', {
  schema: { body: logRecordSchema },
  handler: async (_request, reply) =>
    reply.code(201).header('content-type', 'application/json; charset=utf-8').send(acceptedBody),
})
await app.listen({ port: 0, host: '127.0.0.1' })
const address = /** @type {import('node:net').AddressInfo} */ (app.server.address())
process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${address.port}`, apiKey: '', project: 'demo' })}\n`)
