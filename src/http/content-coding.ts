/**
 * The text of a body in the codings that its header `content-encoding` names. Sluice asks for none, and some gateways use one all the
 * same. Where the codings cannot be read, or the text is longer than `maxBytes`, the bytes are the text: no service sends such a text.
 */
export function decoded(bytes: Buffer, codings: string | undefined, maxBytes: number): string {
  try {
    const each = codings?.split(',') ?? []
    return each.reduceRight((coded, coding) => decode(coded, coding, maxBytes), bytes).toString('utf8')
  } catch {
    return bytes.toString('utf8')
  }
}

function decode(bytes: Buffer, coding: string, maxOutputLength: number): Buffer {
  // Loaded when it is first needed: most services do not compress so short an answer.
  const zlib = process.getBuiltinModule('node:zlib')
  // A body that breaks off is read as far as it came.
  const options = { maxOutputLength, finishFlush: zlib.constants.Z_SYNC_FLUSH }
  const name = coding.trim().toLowerCase()
  if (bytes.length === 0 || name === 'identity' || name === '') return bytes
  if (name === 'gzip' || name === 'x-gzip') return zlib.gunzipSync(bytes, options)
  if (name === 'br') {
    return zlib.brotliDecompressSync(bytes, {
      maxOutputLength,
      finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH,
    })
  }
  if (name !== 'deflate') throw new Error(`the coding ${coding} is not known`)
  // Some servers leave out the head of zlib, whose first four bits are 8.
  return (bytes[0]! & 0x0f) === 8 ? zlib.inflateSync(bytes, options) : zlib.inflateRawSync(bytes, options)
}
