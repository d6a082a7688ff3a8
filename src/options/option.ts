import type { Environment, Variable } from './environment.js'

/** How the values of an option are checked, and read from the text of a variable. */
export interface Kind<Given, Value = Given> {
  /** The type of what the application gives. For the compiler alone. */
  readonly given?: Given
  /** The words for a valid value. */
  readonly expected: string
  /** The words for a valid text of a variable. @default `expected` */
  readonly expectedText?: string
  /** The complete value; undefined for an invalid one. */
  check(value: unknown): Value | undefined
  /** The same for a text. `file` is the path of the file with that text. */
  read(text: string, file?: string): Value | undefined
  /** One value from the values of several variables. @default the first variable that is set counts */
  join?(values: readonly Value[]): Value
  /** A wrong value as errors show it. @default as it is */
  show?(value: unknown): unknown
  /** What a wrong value was meant to be, for the end of an error; undefined where nobody knows. @default undefined */
  remedy?(value: unknown): string | undefined
}

/** A variable that sets an option, or a part of it. */
export interface OptionVariable extends Variable {
  /** How its text is read. @default the kind of the option */
  readonly kind?: Kind<unknown, unknown>
}

/** A value that neither the application nor a variable of Sluice gives, with its origin for `debug`. */
export interface Fallback<Value> {
  readonly value: Value
  readonly source: string
}

/** The places where a fallback may be found. */
export interface Around {
  readonly environment: Environment
  /** Where the search for the service's package.json begins; it goes upwards. @default the folder of the main script */
  readonly folder?: string | undefined
  /** An option that stands earlier in the table; undefined if it is not set. */
  readonly earlier: (name: string) => Fallback<unknown> | undefined
}

/** One row of a table of options. */
export interface Option<Given, Value> {
  readonly kind: Kind<Given, Value>
  readonly variables: readonly OptionVariable[]
  /** A default that is always the same. */
  readonly default?: Value
  /** A default that depends on the machine, the runtime or other conventions. */
  readonly fallback?: (around: Around) => Fallback<Value> | undefined
}

export type Table = Readonly<Record<string, Option<unknown, unknown>>>

/** The type of what an application gives for an option. */
export type Given<Row> = Row extends Option<infer Value, unknown> ? Value : never

/** The type of its complete value. */
export type Resolved<Row> = Row extends Option<unknown, infer Value> ? Value : never

type Variables = string | readonly (string | OptionVariable)[]

/** Makes a row. Without a preset, the option is undefined where nothing sets it. */
export function option<Given, Value>(
  kind: Kind<Given, Value>,
  variables: Variables,
  preset: NoInfer<Value> | ((around: Around) => Fallback<NoInfer<Value>>),
): Option<Given, Value>
export function option<Given, Value>(
  kind: Kind<Given, Value>,
  variables?: Variables,
  preset?: (around: Around) => Fallback<NoInfer<Value>> | undefined,
): Option<Given, Value | undefined>
export function option(
  kind: Kind<unknown, unknown>,
  variables: Variables = [],
  preset?: unknown,
): Option<unknown, unknown> {
  const list = typeof variables === 'string' ? [variables] : variables
  return {
    kind,
    variables: list.map((each) => (typeof each === 'string' ? { name: each } : each)),
    ...(typeof preset === 'function' ? { fallback: preset as () => Fallback<unknown> } : { default: preset }),
  }
}

/** The variable with the path of a file that holds the value. */
export function fileIn(name: string): Variable {
  return { name, namesFile: true }
}

/** A default that is made when it is needed. */
export function computed<Value>(make: () => Value): () => Fallback<Value> {
  return () => ({ value: make(), source: 'default' })
}
