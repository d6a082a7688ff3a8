import type { Static, TObject, TProperties } from '@sinclair/typebox'

/** The body of an answer of the receiver. */
export type Body = Readonly<Record<string, unknown>>

/** What a tool reads from: the API of one receiver. */
export interface Receiver {
  /**
   * The body of a successful answer.
   *
   * @param path with its query
   * @throws {ToolError} for every other answer, and where none came
   */
  ask(path: string): Promise<Body>
  /** The bucket of the call, encoded for a path. */
  readonly bucket: string
}

/** A tool of the protocol. It reads, and changes nothing. */
export interface Tool<Properties extends TProperties = TProperties> {
  readonly name: string
  readonly title: string
  /** For the model that calls it. */
  readonly description: string
  readonly input: TObject<Properties>
  /** The kind of records whose bucket it reads; undefined where it reads none. */
  readonly reads?: 'logs' | 'values'
  /** @throws {ToolError} */
  answer(given: Static<TObject<Properties>>, receiver: Receiver): Promise<string>
}

/** The reason why a tool has no answer, in words for the model: what happened, and what to do. */
export class ToolError extends Error {}

/** A tool with its arguments unknown, for a list. */
export function tool<Properties extends TProperties>(described: Tool<Properties>): Tool {
  return described as object as Tool
}
