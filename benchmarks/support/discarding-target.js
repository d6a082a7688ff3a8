import { writeSync } from 'node:fs'
import { Writable } from 'node:stream'

/** A target of pino that discards. It prints when its first line came, in ms of the system's steady clock. */
export default () => {
  let isFirst = true
  return new Writable({
    write(_chunk, _encoding, done) {
      if (isFirst) writeSync(1, `${Number(process.hrtime.bigint()) / 1e6}\n`)
      isFirst = false
      done()
    },
  })
}
