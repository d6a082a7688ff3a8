/** A content type, as far as the page shows it. */
export interface ContentType {
  readonly id: string
  readonly key: string
  readonly name: string
  readonly description: string
  readonly displayField: string
  readonly schemaVersion: number
  readonly schema: readonly {
    readonly key: string
    readonly label: string
    readonly type: string
    readonly required: boolean
    readonly maxLength?: number
  }[]
}
