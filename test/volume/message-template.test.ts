import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { messageTemplate } from '../../src/volume/message-template.js'
import { adversarialText, adversarialTexts } from '../support/adversarial-texts.js'

describe('the template of a message', () => {
  it.each([
    ['', ''],
    ['no number at all', 'no number at all'],
    ['order 42 is paid', 'order # is paid'],
    ['order evt_8sd7F6s', 'order #'],
    ['order req-4f2a', 'order #'],
    ['user 507f1f77bcf86cd799439011', 'user #'],
    ['trace 4bf92f3577b34da6a3ce929d0e0e4736', 'trace #'],
    ['at 0x1f', 'at #'],
    ['id 8f14e45f-ceea-467f-ab3e-2f5c0e3b8d11!', 'id #!'],
    ['id abcdefab-cdef-abcd-efab-cdefabcdefab!', 'id #!'],
    ['id ABCDEFAB-CDEF-ABCD-EFAB-CDEFABCDEFAB', 'id #'],
    ['xbcdefab-cdef-abcd-efab-cdefabcdefab', 'xbcdefab-cdef-abcd-efab-cdefabcdefab'],
    ['abcdefabcd-ef-abcd-efab-cdefabcdefab', 'abcdefabcd-ef-abcd-efab-cdefabcdefab'],
    ['deadbeef and facade', 'deadbeef and facade'],
    ['id="42", name=\'u7\'', 'id="#", name=\'#\''],
    ['12ms', '#'],
    ['1.5ms', '#'],
    ['from 5 to -5', 'from # to #'],
    ['a - b', 'a - b'],
    ['1,234,567.89 euros', '# euros'],
    ['1, 2, 3', '#, #, #'],
    ['99.5%', '#%'],
    ['ends with 5.', 'ends with #.'],
    ['2024-05-01T10:00:00Z', '#'],
    ['2024-05-01T10:00:00.123+02:00', '#'],
    ['10.0.0.1:443 is down', '# is down'],
    ['/users/42/cart', '/users/#/cart'],
    ['at file.js:10:5', 'at file.js:#'],
    ['line 42:failed', 'line #:failed'],
    ['node-1.example.com', '#.example.com'],
    ['订单4711失败', '订单#失败'],
    ['٣ and ３', '٣ and ３'],
    ['🙂42🙂', '🙂#🙂'],
    ['7', '#'],
    ['.5:', '.#:'],
    ['3.', '#.'],
  ])('of %j is %j', (text, template) => {
    expect(messageTemplate(text)).toBe(template)
  })

  it('tells messages apart by their words', () => {
    expect(messageTemplate('timeout of order')).not.toBe(messageTemplate('timeout of basket'))
    expect(messageTemplate('GET /users/42/cart')).not.toBe(messageTemplate('GET /users/42/orders'))
  })

  it('has the first 1,000 characters of the message', () => {
    const start = 'x '.repeat(500)
    expect(messageTemplate(`${start}one`)).toBe(start)
    expect(messageTemplate(`${start.slice(1)}1.5`)).toBe(`${start.slice(1)}#`)
    expect(messageTemplate('1'.repeat(2000))).toBe('#')
  })

  const piece = fc.oneof(
    fc.constantFrom(' ', '-', '_', '.', ':', ',', '+', '/', '"', '#', 'a', 'F', 'word', '42', '0x1f', '🙂', 'ü', '٣'),
    fc.uuid(),
    fc.string({ maxLength: 4, unit: 'binary' }),
  )
  const message = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(''))

  it('stays the same when digits are changed', () => {
    fc.assert(
      fc.property(message, fc.array(fc.nat(9), { minLength: 1 }), (text, digits) => {
        let count = 0
        const changed = text.replace(/[0-9]/g, () => String(digits[count++ % digits.length]))
        expect(messageTemplate(changed)).toBe(messageTemplate(text))
      }),
    )
  })

  it('stays the same when numbers grow', () => {
    fc.assert(
      fc.property(message, fc.integer({ min: 1, max: 3 }), (text, more) => {
        fc.pre(text.length < 250)
        const longer = text.replace(/[0-9]+/g, (number) => number + '7'.repeat(more))
        expect(messageTemplate(longer)).toBe(messageTemplate(text))
      }),
    )
  })

  it('has no digit, and is no longer than the message', () => {
    fc.assert(
      fc.property(message, (text) => {
        expect(messageTemplate(text)).not.toMatch(/[0-9]/)
        expect(messageTemplate(text).length).toBeLessThanOrEqual(Math.min(1000, text.length))
      }),
    )
  })

  it('takes a few looks at each character that counts, whatever is in the message', () => {
    const shapes = Object.keys(adversarialTexts).map((shape) => adversarialText(shape, 100_000))
    for (const text of [...shapes, '1.'.repeat(50_000), '1.a'.repeat(30_000), 'a-'.repeat(50_000)]) {
      let looks = 0
      const watched = {
        length: text.length,
        charCodeAt: (at: number) => {
          looks++
          return text.charCodeAt(at)
        },
        slice: (from: number, to: number) => text.slice(from, to),
      }
      expect(messageTemplate(watched as unknown as string)).toBe(messageTemplate(text))
      expect(looks).toBeLessThanOrEqual(3000)
    }
  })
})
