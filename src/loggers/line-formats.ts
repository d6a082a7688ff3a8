import { type Format, isJsonFormat, watchJson, writesAllFields } from './json-format.js'

/** Facts about the formats that make the lines of a transport. */
export interface FormatFacts {
  /** All of them are winston's json, which neither adds to a line nor hides anything of it. */
  readonly untouched: boolean
  /** The text of a line is JSON of all its fields. */
  readonly isJson: boolean
}

/** A logger of winston, or another stream that pipes into a transport. */
interface Source {
  readonly format?: Format | undefined
}

/** Knows the sources of a transport. A line does not tell which of them it comes from, so a fact must hold for the formats of all. */
export class LineFormats {
  readonly #sources: Source[] = []
  #facts: FormatFacts = { untouched: false, isJson: false }
  /** The formats for which the facts hold: the transport's own one, and one for each source. */
  #own: Format | undefined
  #formats: readonly (Format | undefined)[] = []

  /** @param own the transport's own format */
  add(source: Source, own: Format | undefined): void {
    this.#sources.push(source)
    if (own !== undefined || !isWholeJson(source, source.format)) watchJson(source)
  }

  remove(source: object): void {
    const index = this.#sources.indexOf(source)
    if (index !== -1) this.#sources.splice(index, 1)
  }

  /** @param own the transport's own format. It may change while the application runs, and so may those of the sources */
  facts(own: Format | undefined): FormatFacts {
    if (own !== this.#own || !this.#areCurrent()) this.#renew(own)
    return this.#facts
  }

  #areCurrent(): boolean {
    if (this.#formats.length !== this.#sources.length) return false
    for (let index = 0; index < this.#formats.length; index++) {
      if (this.#sources[index]!.format !== this.#formats[index]) return false
    }
    return true
  }

  #renew(own: Format | undefined): void {
    const sources = this.#sources
    this.#own = own
    this.#formats = sources.map(({ format }) => format)
    const isJson = sources.length > 0 && sources.every((source) => isWholeJson(source, own ?? source.format))
    this.#facts = { untouched: isJson && own === undefined, isJson }
  }
}

function isWholeJson(source: Source, format: Format | undefined): boolean {
  return format !== undefined && isJsonFormat(source, format) && writesAllFields(format)
}
