/** Fields of the context by which the lines of one request or trace belong together. */
export const threads = ['trace_id', 'traceId', 'trace.id', 'requestId', 'reqId', 'request_id', 'correlationId']
