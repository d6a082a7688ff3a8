/** A value of a statement. A list stands only where a dialect takes one. */
export type Value = string | number | boolean | null | readonly (string | number)[]

/** A piece of SQL and the values for its question marks. */
export interface Sql {
  readonly sql: string
  readonly values: readonly Value[]
}

/** Makes SQL of a template. A piece of SQL stands in it as it is; a value becomes a question mark. */
export function sql(texts: TemplateStringsArray, ...parts: readonly (Value | Sql)[]): Sql {
  return joined(
    texts.flatMap((text, index) => (index === 0 ? [raw(text)] : [pieceOf(parts[index - 1]!), raw(text)])),
    '',
  )
}

/** SQL without values, such as a name. */
export function raw(text: string): Sql {
  return { sql: text, values: [] }
}

/** The pieces with a separator between them. */
export function joined(pieces: readonly Sql[], separator: string): Sql {
  return { sql: pieces.map(({ sql }) => sql).join(separator), values: pieces.flatMap(({ values }) => values) }
}

/** True where all conditions hold. */
export function allOf(conditions: readonly Sql[]): Sql {
  return joined(conditions, ' AND ')
}

function pieceOf(part: Value | Sql): Sql {
  return typeof part === 'object' && part !== null && 'sql' in part ? part : { sql: '?', values: [part] }
}
