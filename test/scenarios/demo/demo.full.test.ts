import { describe, expect, it } from 'vitest'
import { startProgram } from '../../support/programs.js'

describe('the demo without a terminal', () => {
  it('shows the first record before the shoppers have come, accounts for all records, and ends by itself', async () => {
    const { code, stdout, stderr } = await startProgram('../../examples/demo/run.js').ended
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/\nfirst record \d{4}-\S+Z \w+ shop .+\n400 shoppers come …\n/)
    const [, requests] = /\ndriven by {4}(\d+) requests, then SIGTERM\n/.exec(stdout) ?? []
    // 400 shoppers make 3 to 8 requests each: two looks, a checkout, and as many products as their number says.
    expect(Number(requests)).toBe(
      Array.from({ length: 400 }, (_, shopper) => 3 + (shopper % 6)).reduce((a, b) => a + b),
    )
    const [, accepted] = /\nledger {4}accepted=(\d+) delivered=\1 rejected=0 dropped=0\n/.exec(stdout) ?? []
    expect(stdout).toMatch(new RegExp(`\\nreceiver  logs=\\d+ values=\\d+ total=${accepted}\\n`))
    const [, receiver] = /^receiver {5}(\S+)$/m.exec(stdout) ?? []
    const [, page = '', rest] = /\nthe page was (\S+)\n(.*\n)$/.exec(stdout) ?? []
    expect(new URL(page).origin).toBe(receiver)
    expect(rest).toBe('It ends with the receiver. npm run demo -- --stay keeps both, and the shop.\n')
  })
})
