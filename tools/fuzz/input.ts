/** Reads choices from the beginning of an input; the rest is the text or the bytes under test. */
export class Input {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** A whole number from 0 to below `end`, which is at most 256. */
  below(end: number): number {
    return (this.#bytes[this.#at++] ?? 0) % end
  }

  pick<Value>(values: readonly Value[]): Value {
    return values[this.below(values.length)]!
  }

  /** Bytes that have not been read. */
  rest(): Buffer {
    return this.#bytes.subarray(this.#at)
  }

  /** The rest as text. Invalid UTF-8 is replaced. */
  text(): string {
    return this.rest().toString('utf8')
  }

  get isEmpty(): boolean {
    return this.#at >= this.#bytes.length
  }
}

/** A seed: choices, and the text behind them. */
export function seed(choices: readonly number[], text: string | Buffer): Buffer {
  return Buffer.concat([Buffer.from(choices), Buffer.from(text)])
}

/** The bytes in pieces of these sizes, again and again. */
export function piecesOf(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const pieces: Buffer[] = []
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const next = at + Math.max(1, sizes[turn % sizes.length]!)
    pieces.push(bytes.subarray(at, next))
    at = next
  }
  return pieces
}
