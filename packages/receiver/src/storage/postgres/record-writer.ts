import type pg from 'pg'
import type { NewRecord } from '../record-storage.js'
import { recordTimeMs } from '../records/record-times.js'
import { type CountTally, Tallies } from '../records/tallies.js'
import { writtenRecord } from '../records/written-records.js'
import type { Repeated } from '../repeated-attempts.js'
import { addAttempts, storedKey } from './attempts.js'
import { CountedErrors } from './counted-errors.js'
import { anyValue, CountedNames } from './counted-names.js'
import { leaveCrowd } from './crowded-errors.js'
import { dayOf, msOfId } from './record-ids.js'
import { countedName, termsOf } from './record-terms.js'

/** A record on its way into the tables. */
interface Row {
  readonly source: NewRecord
  readonly id: number
  readonly receivedMs: number
  readonly timeMs: number
  readonly labels: string
  readonly json: string
}

/** Records of one bucket, kind and day. */
interface Lane {
  readonly bucket: string
  readonly kind: NewRecord['kind']
  readonly rows: Row[]
}

/** A count of the records of a lane. */
interface Count extends CountTally {
  readonly lane: Lane
}

/** Writes groups of records. */
export class RecordWriter {
  readonly #nowMs: () => number
  readonly #takeId: () => number
  readonly #tallies = new Tallies()
  readonly #names = new CountedNames(this.#tallies)
  readonly #errors = new CountedErrors()

  constructor({ nowMs, takeId }: { readonly nowMs: () => number; readonly takeId: () => number }) {
    this.#nowMs = nowMs
    this.#takeId = takeId
  }

  /**
   * Stores the records within a transaction, except repeated attempts. Returns the counts of those.
   *
   * @param writer a number that no other running transaction has
   */
  async write(
    client: pg.ClientBase,
    { records, writer }: { readonly records: readonly NewRecord[]; readonly writer: number },
  ): Promise<Repeated[]> {
    const receivedMs = this.#nowMs()
    const buckets = new Map<string, Row[]>()
    for (const source of records) {
      const { timeStamp, labels, json } = writtenRecord(source)
      const row = { source, id: this.#takeId(), receivedMs, timeMs: recordTimeMs(timeStamp), labels, json }
      const rows = buckets.get(source.bucket)
      if (rows === undefined) buckets.set(source.bucket, [row])
      else rows.push(row)
    }
    // All transactions lock their keys in the same order: by bucket, kind and key. The statements of all buckets are on their way at once.
    const sorted = [...buckets].sort(([a], [b]) => (a < b ? -1 : 1))
    const known = await Promise.all(sorted.map(([bucket, rows]) => this.#known(client, { bucket, rows })))
    await Promise.all(
      sorted.map(([bucket, rows], index) => {
        const lanes = lanesOf(rows.filter((row) => !known[index]!.has(row)))
        return lanes.length > 0 && this.#store(client, { bucket, lanes, writer })
      }),
    )
    return known.flatMap((rows) => repeatedOf(rows))
  }

  /** Stores the keys. Returns the rows whose key is known, or stands in an earlier row. */
  async #known(
    client: pg.ClientBase,
    { bucket, rows }: { readonly bucket: string; readonly rows: readonly Row[] },
  ): Promise<Set<Row>> {
    const known = new Set<Row>()
    const first = new Map<string, Row>()
    for (const row of rows) {
      const name = attemptName(row)
      if (name === undefined) continue
      if (first.has(name)) known.add(row)
      else first.set(name, row)
    }
    if (first.size === 0) return known
    const attempts = [...first].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
    const counting = await addAttempts(client, {
      bucket,
      scopes: attempts.map(({ source }) => source.kind),
      keys: attempts.map(({ source }) => storedKey(source.idempotencyKey!)),
      results: attempts.map(({ id }) => String(id)),
      nowMs: this.#nowMs(),
    })
    for (const row of attempts) if (!counting.has(String(row.id))) known.add(row)
    return known
  }

  async #store(
    client: pg.ClientBase,
    { bucket, lanes, writer }: { bucket: string; lanes: readonly Lane[]; writer: number },
  ): Promise<void> {
    const rows = lanes.flatMap((lane) => lane.rows)
    const counts = lanes.flatMap((lane) =>
      [totalOf(lane.rows), ...this.#tallies.counts(lane.rows)].map((count) => ({ lane, ...count })),
    )
    const names = lanes.flatMap((lane) => this.#names.tally(lane).map((name) => ({ lane, ...name })))
    const errors = lanes.flatMap((lane) => this.#errors.tally(lane, writer).map((error) => ({ lane, ...error })))
    const kinds = errors.flatMap(({ lane, texts }) => (texts === undefined ? [] : [{ lane, texts }]))
    const steps = errors.flatMap(({ lane, number, steps }) => steps.map((step) => ({ lane, number, ...step })))
    const spans = lanes.flatMap((lane) => spansOf(counts.filter((count) => count.lane === lane)))
    const values = [
      writer,
      bucket,
      ...columns(rows, [
        ({ source }) => source.kind,
        ({ id }) => id,
        ({ receivedMs }) => receivedMs,
        ({ timeMs }) => timeMs,
      ]),
      ...columns(rows, [
        ({ source: { record } }) => countedName(JSON.stringify(record.level ?? record.eventId ?? null)),
        ({ source }) => termsOf(source, source.record),
        ({ json }) => json,
      ]).map((texts) => texts.join('\n')),
      ...columns(counts, [kindOf, dayOfLane, ({ stepMs }) => stepMs, ({ atMs }) => atMs]),
      ...columns(counts, [
        ({ value }) => (value === anyValue ? value : countedName(value)),
        ({ records }) => records,
        ({ lastMs }) => lastMs,
      ]),
      ...columns(names, [kindOf, dayOfLane, ({ field }) => field, ({ name }) => name, ({ records }) => records]),
      ...columns(spans, [kindOf, dayOfLane, ({ stepMs }) => stepMs, ({ atMs }) => atMs, firstOf, lastOf]),
      ...columns(
        lanes.map((lane) => ({ lane })),
        [kindOf, firstOf, lastOf],
      ),
      ...columns(errors, [
        ({ kind }) => kind,
        ({ app }) => app,
        ({ env }) => env,
        ({ version }) => version,
        dayOfLane,
        ({ number }) => number,
        ({ records }) => records,
        ({ lastId }) => lastId,
        ({ firstMs }) => firstMs,
        ({ lastMs }) => lastMs,
      ]),
      ...columns(steps, [
        ({ number }) => number,
        ({ stepMs }) => stepMs,
        ({ atMs }) => atMs,
        dayOfLane,
        ({ records }) => records,
      ]),
      ...columns(kinds, [
        ({ texts }) => texts.id,
        dayOfLane,
        ({ texts }) => texts.type,
        ({ texts }) => texts.message,
        ({ texts }) => texts.frame,
      ]),
    ]
    await client.query({ name: 'add-records', text: addRecords, values })
    for (const lane of lanes) {
      for (const crowd of this.#errors.crowds(lane, writer)) {
        const left = await leaveCrowd(client, { bucket, day: dayOfLane({ lane }), writer }, crowd)
        this.#errors.left(lane, { writer, ...left })
      }
    }
  }
}

/**
 * Prepared, for planning takes longer than running it for a few records. The long texts of the records come with a line for each: none has a line break
 * of its own, and pg would look for quotes in an array of them.
 */
const addRecords = `
  WITH records AS (
    INSERT INTO sluice_records (bucket, kind, id, received_ms, time_ms, value, terms, record)
    SELECT $2::text, * FROM unnest($3::text[], $4::bigint[], $5::bigint[], $6::float8[],
      string_to_array($7, E'\\n'), string_to_array($8, E'\\n'), string_to_array($9, E'\\n'))
  ), counts AS (
    INSERT INTO sluice_counts AS c (bucket, kind, day, step_ms, at_ms, value, records, last_ms, writer)
    SELECT $2::text, *, $1::integer FROM unnest($10::text[], $11::integer[], $12::bigint[], $13::bigint[], $14::text[], $15::bigint[],
      $16::float8[])
    ON CONFLICT (bucket, kind, step_ms, at_ms, value, day, writer) DO UPDATE SET
      records = c.records + excluded.records, last_ms = greatest(c.last_ms, excluded.last_ms)
  ), names AS (
    INSERT INTO sluice_names AS n (bucket, kind, day, field, name, records, writer)
    SELECT $2::text, *, $1::integer FROM unnest($17::text[], $18::integer[], $19::text[], $20::text[], $21::bigint[])
    ON CONFLICT (bucket, kind, field, name, day, writer) DO UPDATE SET records = n.records + excluded.records
  ), spans AS (
    INSERT INTO sluice_spans AS s (bucket, kind, day, step_ms, at_ms, first_id, last_id, writer)
    SELECT $2::text, *, $1::integer FROM unnest($22::text[], $23::integer[], $24::bigint[], $25::bigint[], $26::bigint[], $27::bigint[])
    ON CONFLICT (bucket, kind, step_ms, at_ms, day, writer) DO UPDATE SET
      first_id = least(s.first_id, excluded.first_id), last_id = greatest(s.last_id, excluded.last_id)
  ), errors AS (
    INSERT INTO sluice_errors AS e (bucket, kind, app, env, version, day, number, records, last_id, first_ms, last_ms, writer)
    SELECT $2::text, *, $1::integer FROM unnest($31::text[], $32::text[], $33::text[], $34::text[], $35::integer[], $36::bigint[], $37::bigint[],
      $38::bigint[], $39::float8[], $40::float8[])
    ON CONFLICT (bucket, kind, app, env, version, day, writer) DO UPDATE SET records = e.records + excluded.records,
      last_id = greatest(e.last_id, excluded.last_id), first_ms = least(e.first_ms, excluded.first_ms),
      last_ms = greatest(e.last_ms, excluded.last_ms)
  ), error_steps AS (
    INSERT INTO sluice_error_steps AS s (bucket, number, step_ms, at_ms, day, records, writer)
    SELECT $2::text, *, $1::integer FROM unnest($41::bigint[], $42::bigint[], $43::bigint[], $44::integer[], $45::bigint[])
    ON CONFLICT (bucket, number, step_ms, at_ms, day, writer) DO UPDATE SET records = s.records + excluded.records
  ), error_kinds AS (
    INSERT INTO sluice_error_kinds (bucket, id, day, type, message, frame, writer)
    SELECT $2::text, *, $1::integer FROM unnest($46::text[], $47::integer[], $48::text[], $49::text[], $50::text[])
    ON CONFLICT (bucket, id, day, writer) DO NOTHING
  )
  INSERT INTO sluice_batches (bucket, kind, id, last_id)
  SELECT $2::text, * FROM unnest($28::text[], $29::bigint[], $30::bigint[])`

type Cell = string | number | null

/** The cells of a table by columns. */
function columns<Item>(items: readonly Item[], cells: readonly ((item: Item) => Cell)[]): Cell[][] {
  return cells.map((cell) => items.map(cell))
}

const kindOf = ({ lane }: { readonly lane: Lane }) => lane.kind
const firstOf = ({ lane }: { readonly lane: Lane }) => lane.rows[0]!.id
const lastOf = ({ lane }: { readonly lane: Lane }) => lane.rows.at(-1)!.id

function totalOf(rows: readonly Row[]): CountTally {
  return { stepMs: 0, atMs: 0, value: anyValue, records: rows.length, lastMs: 0 }
}

/** The minutes and hours of the counts, each once. */
function spansOf(counts: readonly Count[]): Count[] {
  return [
    ...new Map(
      counts.filter(({ stepMs }) => stepMs > 0).map((count) => [`${count.stepMs} ${count.atMs}`, count]),
    ).values(),
  ]
}

function lanesOf(rows: readonly Row[]): Lane[] {
  const lanes = new Map<string, Lane>()
  for (const row of rows) {
    const { bucket, kind } = row.source
    // Records of one commit on both sides of midnight stand in two partitions.
    const name = `${kind} ${dayOf(msOfId(row.id))} ${bucket}`
    const lane = lanes.get(name)
    if (lane === undefined) lanes.set(name, { bucket, kind, rows: [row] })
    else lane.rows.push(row)
  }
  return [...lanes.values()]
}

const dayOfLane = (each: { readonly lane: Lane }) => dayOf(msOfId(firstOf(each)))

function repeatedOf(known: ReadonlySet<Row>): Repeated[] {
  const repeated = new Map<string, Repeated>()
  for (const { source } of known) {
    const { kind, bucket } = source
    const name = `${kind} ${bucket}`
    repeated.set(name, { kind, bucket, count: (repeated.get(name)?.count ?? 0) + 1 })
  }
  return [...repeated.values()]
}

function attemptName({ source: { bucket, kind, idempotencyKey: key } }: Row): string | undefined {
  return key === undefined || key === '' ? undefined : `${bucket} ${kind} ${storedKey(key)}`
}
