import { track } from 'sluice'
import { captureSluice } from 'sluice/testing'
import { ways } from './ways.js'

const captured = captureSluice()
const log = await ways.winston?.()
for (let number = 1; number <= 100; number++) {
  log?.(number)
  track(number)
}
process.stdout.write(`${captured.logs.length} lines, ${captured.values.length} values\n`)
captured.restore()
