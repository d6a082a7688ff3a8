const headEnd = Buffer.from('\r\n\r\n')
const nothing = Buffer.alloc(0)

/**
 * Cuts what one connection sends into requests, without parsing more than it must. `Content-Length` and chunked bodies.
 *
 * @param {{
 *   head?: (text: string) => void,
 *   plain?: (bytes: Buffer) => void,
 *   coded?: (bytes: Buffer, encoding: string) => void,
 * }} take `head`: of each request that is complete; `plain`: whole requests as they came, heads and all; `coded`: the body
 *   of one that has to be put together or unpacked first
 * @returns {(chunk: Buffer) => void}
 */
export function requestSplitter(take) {
  /** @type {Buffer} */
  let rest = nothing
  /** Parts of a request that is larger than a chunk, and how many bytes are known to be missing of it. */
  /** @type {Buffer[]} */
  let parts = []
  let missing = 0

  return (chunk) => {
    if (missing > chunk.length) {
      parts.push(chunk)
      missing -= chunk.length
      return
    }
    const data = parts.length > 0 || rest.length > 0 ? Buffer.concat([rest, ...parts, chunk]) : chunk
    rest = nothing
    parts = []
    missing = 0
    let plainFrom = 0
    let at = 0
    for (;;) {
      const end = data.indexOf(headEnd, at)
      if (end === -1) break
      const head = data.toString('latin1', at, end)
      const from = end + headEnd.length
      const encoding = /\r\ncontent-encoding: *(\S+)/i.exec(head)?.[1] ?? ''
      const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
      const chunked = length === undefined && /\r\ntransfer-encoding: *chunked/i.test(head)
      const body = chunked ? unchunk(data, from) : undefined
      const next = chunked ? (body?.next ?? Number.POSITIVE_INFINITY) : from + Number(length ?? 0)
      if (next > data.length) {
        if (!chunked) missing = next - data.length
        break
      }
      take.head?.(head)
      if (chunked || encoding !== '') {
        if (plainFrom < at) take.plain?.(data.subarray(plainFrom, at))
        take.coded?.(body?.bytes ?? data.subarray(from, next), encoding)
        plainFrom = next
      }
      at = next
    }
    if (plainFrom < at) take.plain?.(data.subarray(plainFrom, at))
    const left = data.subarray(at)
    if (missing > 0) parts = [left]
    else rest = left
  }
}

/**
 * The body that begins at `from` and where it ends; nothing while it is not complete.
 *
 * @param {Buffer} data
 * @param {number} from
 * @returns {{ bytes: Buffer, next: number } | undefined}
 */
function unchunk(data, from) {
  /** @type {Buffer[]} */
  const bytes = []
  for (let at = from; ; ) {
    const lineEnd = data.indexOf('\r\n', at)
    if (lineEnd === -1) return undefined
    const size = Number.parseInt(data.toString('latin1', at, lineEnd), 16)
    const next = lineEnd + 2 + size + 2
    if (next > data.length) return undefined
    if (size === 0) return { bytes: Buffer.concat(bytes), next }
    bytes.push(data.subarray(lineEnd + 2, next - 2))
    at = next
  }
}
