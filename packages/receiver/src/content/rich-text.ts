import { setImmediate } from 'node:timers/promises'
import { type Token, Tokenizer } from 'parse5'

/** Accepted attributes by element. The attributes of `*` are accepted on every element. */
const accepted: Readonly<Record<string, readonly string[]>> = {
  '*': ['class', 'dir', 'lang', 'title'],
  a: ['href', 'rel', 'target'],
  img: ['alt', 'height', 'src', 'width'],
  ol: ['start'],
  td: ['colspan', 'rowspan'],
  th: ['colspan', 'rowspan', 'scope'],
  time: ['datetime'],
}

const elements = new Set(
  `a abbr b blockquote br caption cite code dd del div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p
   pre q s samp small span strong sub sup table tbody td tfoot th thead time tr u ul var`.split(/\s+/),
)

/** A piece takes some milliseconds. */
const pieceLength = 16_384

const protocols = new Set(['http:', 'https:', 'mailto:', 'tel:'])

/**
 * The markup of a rich text that is not accepted: each thing once, in the order of the text. Empty for a good text.
 *
 * Rich text is HTML with a fixed list of elements and attributes that cannot run code. The check reads every token and not the tree that
 * a browser builds: markup that one page drops may be active in another. Others are served between its pieces.
 */
export async function refusedMarkup(html: string): Promise<string[]> {
  const refused = new Set<string>()
  const ignore = () => {}
  const tokenizer = new Tokenizer(
    { sourceCodeLocationInfo: false },
    {
      onStartTag({ tagName, attrs }: Token.TagToken) {
        if (!elements.has(tagName)) refused.add(`<${tagName}>`)
        else
          for (const attribute of attrs)
            if (!isAccepted(tagName, attribute)) refused.add(`${attribute.name} of <${tagName}>`)
      },
      onEndTag({ tagName }: Token.TagToken) {
        if (!elements.has(tagName)) refused.add(`</${tagName}>`)
      },
      onComment: () => void refused.add('a comment'),
      onDoctype: () => void refused.add('a doctype'),
      onCharacter: ignore,
      onNullCharacter: ignore,
      onWhitespaceCharacter: ignore,
      onEof: ignore,
      // An unfinished tag would swallow the text that follows it in a page.
      onParseError: ({ code }) => void (code.startsWith('eof-') && refused.add('a tag without its end')),
    },
  )
  let at = 0
  for (; at + pieceLength < html.length; at += pieceLength) {
    tokenizer.write(html.slice(at, at + pieceLength), false)
    await setImmediate()
  }
  tokenizer.write(html.slice(at), true)
  return [...refused]
}

function isAccepted(tagName: string, { name, value }: Token.Attribute): boolean {
  if (!accepted['*']?.includes(name) && !accepted[tagName]?.includes(name)) return false
  return (name !== 'href' && name !== 'src') || leadsSomewhereHarmless(value)
}

function leadsSomewhereHarmless(address: string): boolean {
  try {
    return protocols.has(new URL(address, 'https://relative.invalid/').protocol)
  } catch {
    return false
  }
}
