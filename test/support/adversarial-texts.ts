const esc = '\u001b'

/** Shapes of text on which an expression, a parser or a copy may spend more time than their length allows: each by its length. */
export const adversarialTexts: Readonly<Record<string, (length: number) => string>> = {
  'digits and a letter': (length) => `${'1'.repeat(length - 1)}x`,
  digits: (length) => '9'.repeat(length),
  'spaces and a letter': (length) => `${' '.repeat(length - 1)}x`,
  'tabs before "at"': (length) => filled('\t', length - 4, 'at ('),
  'stack lines': (length) => filled('\n    at f (file.js:1:1)', length),
  'line ends before spaces': (length) => filled('\n  ', length),
  'line ends': (length) => '\n'.repeat(length),
  'CR LF': (length) => filled('\r\n', length),
  quotes: (length) => '"'.repeat(length),
  backslashes: (length) => '\\'.repeat(length),
  'escaped quotes': (length) => filled('\\"', length),
  'open braces': (length) => '{'.repeat(length),
  'open brackets': (length) => '['.repeat(length),
  'nested brackets': (length) => '['.repeat(length / 2) + ']'.repeat(length / 2),
  'nested objects': (length) => `${'{"a":'.repeat(length / 6)}0${'}'.repeat(length / 6)}`,
  'open strings': (length) => filled('{"a', length),
  equals: (length) => '='.repeat(length),
  'small fields': (length) => `{${filled('"a":1,', length - 8)}"b":2}`,
  'many keys': (length) => `{${Array.from({ length: length / 12 }, (_, key) => `"k${key}":1`).join()}}`,
  colours: (length) => filled(`${esc}[31m`, length),
  'unended colours': (length) => filled(`${esc}[31;`, length),
  'parameters of a colour': (length) => `${esc}[${';'.repeat(length)}`,
  'numbers of a colour': (length) => `${esc}[${filled('1;', length)}`,
  'ends of a line of a terminal': (length) => filled(`${esc}]8;;`, length),
  'half characters': (length) => '\ud83d'.repeat(length),
  'beginnings of a time': (length) => filled('2024-05-01T12:00:00.', length),
  'a time with many digits': (length) => `2024-05-01T12:00:00.${'1'.repeat(length)}`,
  'signs of a time': (length) => `${filled('1:2 ', length)}p`,
  base64: (length) => filled('QUJDREVG/+', length),
  'percent signs': (length) => '%'.repeat(length),
  'tokens of a format': (length) => filled('%s ', length),
  'beginnings of a spool line': (length) => filled('{"crc":"00000000",', length),
  commas: (length) => ','.repeat(length),
  'a name and colons': (length) => filled('Error: ', length),
  slashes: (length) => `${'/'.repeat(length - 1)}x`,
}

const made = new Map<string, string>()

/** A text of this shape and length. */
export function adversarialText(shape: string, length: number): string {
  const key = `${shape} ${length}`
  const text = made.get(key) ?? adversarialTexts[shape]!(length)
  made.set(key, text)
  return text
}

/** A piece again and again, up to the length, then an end. */
function filled(piece: string, length: number, end = ''): string {
  return piece.repeat(Math.max(1, Math.floor(length / piece.length))) + end
}
