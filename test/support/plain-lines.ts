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

/** Fields of several lines in a row: those of the first, some left out, said twice, moved, or with those of another line between them. */
export function runsOf<Field>(fields: fc.Arbitrary<Field[]>): fc.Arbitrary<Field[][]> {
  const change = fc.tuple(fc.constantFrom('none', 'without', 'twice', 'moved', 'more'), fc.nat(6), fc.nat(6), fields)
  return fc.tuple(fields, fc.array(change, { maxLength: 6 })).map(([first, changes]) => {
    const lines = [first]
    for (const [how, at, to, others] of changes) {
      const line = [...lines.at(-1)!]
      const picked = line.slice(at, at + 1)
      if (how === 'without' || how === 'moved') line.splice(at, 1)
      if (how === 'twice' || how === 'moved') line.splice(to, 0, ...picked)
      if (how === 'more') line.splice(at, 0, ...others)
      lines.push(line, first)
    }
    return lines
  })
}
