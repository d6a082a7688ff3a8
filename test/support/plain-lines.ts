import fc from 'fast-check'

/** Values as they may stand in a line of JSON: written by JavaScript, by others, and broken. */
export const scalarsOfLines = fc.oneof(
  { weight: 3, arbitrary: fc.string().map((text) => JSON.stringify(text)) },
  fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
  fc.string({ unit: 'grapheme' }).map((text) => `"${text}"`),
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.constantFrom('true', 'false', 'null', '-0', '0', '00', '01', '1.0', '1e3', '1e400', '-1e400', '1E+2', '0.0000001'),
  fc.constantFrom('9007199254740993', '12345678901234567890', '999999999999999', '-', '-Infinity', 'NaN', '0x1f', '.5'),
  fc.constantFrom('5.', 'tru', 'nullx', '"open', '"a\\u0041"', '"\\ud83d"', '"\ud83d"', '"tab\t"', ' 1', '1 ', ''),
  fc.json(),
)
