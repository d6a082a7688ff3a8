import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import { existsAlready } from './database-errors.js'
import type { Transactions } from './transactions.js'

/**
 * SQL from each version of the tables to the next. It has nothing that distributed databases with PostgreSQL's protocol lack: no sequences, advisory
 * locks, LISTEN or foreign keys, and the bucket first in each primary key of rows that belong to one.
 *
 * Records, *counts*, *spans* and *names* stand in a partition for each day of receipt, so that a day is forgotten by dropping its tables. Counts have
 * the records of a bucket and kind by minute, by hour and in all, each by level or event; names have them by the values of the fields that queries
 * filter by; errors have the logs by kind of error, application, environment and version, where the empty kind stands for all logs, and their steps
 * by minute, hour and day; spans have the ids of the records of a minute or hour. Each writer has rows of its own there, so that no two transactions wait for each
 * other. *Batches* tell live readers what a commit brought.
 */
const migrations: readonly string[] = [
  `
  CREATE TABLE sluice_identity (one integer PRIMARY KEY, id text NOT NULL);
  CREATE TABLE sluice_writers (slot integer PRIMARY KEY, owner text NOT NULL, seen_ms bigint NOT NULL);
  CREATE TABLE sluice_projects (id text PRIMARY KEY, number bigint NOT NULL, allows_content boolean NOT NULL);
  CREATE TABLE sluice_keys (
    id text PRIMARY KEY, number bigint NOT NULL, hash text NOT NULL UNIQUE, name text NOT NULL, scopes text NOT NULL,
    created_ms bigint NOT NULL, last_used text
  );
  CREATE TABLE sluice_page_sessions (hash text PRIMARY KEY, created_ms bigint NOT NULL);
  CREATE TABLE sluice_content_types (
    project text, id text, number bigint NOT NULL, key text NOT NULL, name text NOT NULL, description text NOT NULL,
    display_field text NOT NULL, schema text NOT NULL, schema_version integer NOT NULL, is_active boolean NOT NULL,
    created_at text NOT NULL, updated_at text NOT NULL,
    PRIMARY KEY (project, id)
  );
  CREATE UNIQUE INDEX sluice_content_types_by_key ON sluice_content_types (project, key) WHERE is_active;
  CREATE TABLE sluice_entries (
    project text, id text, number bigint NOT NULL, type text NOT NULL, schema_version integer NOT NULL, state text NOT NULL,
    fields text NOT NULL, created_at text NOT NULL, updated_at text NOT NULL, published_at text,
    PRIMARY KEY (project, id)
  );
  CREATE INDEX sluice_entries_by_type ON sluice_entries (project, type, number);
  CREATE TABLE sluice_attempts (
    bucket text, scope text, key text, result text NOT NULL, at_ms bigint NOT NULL, PRIMARY KEY (bucket, scope, key)
  );
  CREATE INDEX sluice_attempts_by_time ON sluice_attempts (at_ms);
  CREATE TABLE sluice_days (day integer PRIMARY KEY);
  CREATE TABLE sluice_records (
    bucket text, kind text, id bigint, received_ms bigint NOT NULL, time_ms double precision NOT NULL, value text NOT NULL,
    terms text NOT NULL, record text NOT NULL,
    PRIMARY KEY (bucket, kind, id)
  ) PARTITION BY RANGE (id);
  CREATE INDEX sluice_records_by_term ON sluice_records USING gin (string_to_array(terms, ' '));
  CREATE TABLE sluice_counts (
    bucket text, kind text, step_ms bigint, at_ms bigint, value text, day integer, writer integer, records bigint NOT NULL,
    last_ms double precision NOT NULL, PRIMARY KEY (bucket, kind, step_ms, at_ms, value, day, writer)
  ) PARTITION BY RANGE (day);
  CREATE TABLE sluice_spans (
    bucket text, kind text, step_ms bigint, at_ms bigint, day integer, writer integer, first_id bigint NOT NULL, last_id bigint NOT NULL,
    PRIMARY KEY (bucket, kind, step_ms, at_ms, day, writer)
  ) PARTITION BY RANGE (day);
  CREATE TABLE sluice_names (
    bucket text, kind text, field text, name text, day integer, writer integer, records bigint NOT NULL,
    PRIMARY KEY (bucket, kind, field, name, day, writer)
  ) PARTITION BY RANGE (day);
  CREATE TABLE sluice_batches (bucket text, kind text, id bigint, last_id bigint NOT NULL, PRIMARY KEY (bucket, kind, id));
  CREATE INDEX sluice_batches_by_id ON sluice_batches (id);
  `,
  `
  ALTER TABLE sluice_page_sessions ADD COLUMN key_id text, ADD COLUMN number bigint NOT NULL DEFAULT 0;
  ALTER TABLE sluice_identity ADD COLUMN page text;
  CREATE TABLE sluice_page_tokens (hash text PRIMARY KEY, created_ms bigint NOT NULL);
  CREATE TABLE sluice_saved_views (name text PRIMARY KEY, hash text NOT NULL);
  `,
  'ALTER TABLE sluice_keys ADD COLUMN projects text',
  `
  CREATE TABLE sluice_errors (
    bucket text, kind text COLLATE "C", app text COLLATE "C", env text COLLATE "C", version text COLLATE "C", day integer, writer integer,
    number bigint NOT NULL, records bigint NOT NULL, last_id bigint NOT NULL, first_ms double precision NOT NULL, last_ms double precision NOT NULL,
    PRIMARY KEY (bucket, kind, app, env, version, day, writer)
  ) PARTITION BY RANGE (day);
  CREATE TABLE sluice_error_steps (
    bucket text, number bigint, step_ms bigint, at_ms bigint, day integer, writer integer, records bigint NOT NULL,
    PRIMARY KEY (bucket, number, step_ms, at_ms, day, writer)
  ) PARTITION BY RANGE (day);
  CREATE INDEX sluice_error_steps_by_time ON sluice_error_steps (bucket, (step_ms + 0), at_ms);
  CREATE TABLE sluice_error_kinds (
    bucket text, id text, day integer, writer integer, type text, message text NOT NULL, frame text, PRIMARY KEY (bucket, id, day, writer)
  ) PARTITION BY RANGE (day);
  ALTER TABLE sluice_days ADD COLUMN has_errors boolean NOT NULL DEFAULT false;
  `,
]

/** The version of the tables that this program makes. */
export const newestVersion = migrations.length

/**
 * Runs the work while no other process changes the tables.
 *
 * @returns the work's result; it gets the version of the tables
 */
export function changingTables<Result>(
  transactions: Transactions,
  work: (client: pg.ClientBase, version: number) => Promise<Result>,
): Promise<Result> {
  return transactions.run(async (client) => {
    const { rows } = await client.query<{ version: number }>(
      'SELECT version FROM sluice_version WHERE one = 1 FOR UPDATE',
    )
    return work(client, rows[0]!.version)
  })
}

/**
 * Brings the tables to the version of this program. Several processes may do so at once.
 *
 * @throws if a newer program has made the tables
 */
export async function migrate(transactions: Transactions): Promise<void> {
  await makeVersion(transactions)
  await changingTables(transactions, async (client, from) => {
    if (from > newestVersion) throw new Error('a newer version of sluice-receiver has made the tables of this database')
    if (from === newestVersion) return
    for (const sql of migrations.slice(from)) await client.query(sql)
    if (from === 0) {
      await client.query('INSERT INTO sluice_identity (one, id) VALUES (1, $1)', [randomBytes(16).toString('hex')])
    }
    await client.query('UPDATE sluice_version SET version = $1 WHERE one = 1', [newestVersion])
  })
}

async function makeVersion(transactions: Transactions): Promise<void> {
  const make = () =>
    transactions.run(async (client) => {
      await client.query(
        'CREATE TABLE IF NOT EXISTS sluice_version (one integer PRIMARY KEY, version integer NOT NULL)',
      )
      await client.query('INSERT INTO sluice_version VALUES (1, 0) ON CONFLICT DO NOTHING')
    })
  try {
    await make()
  } catch (error) {
    // IF NOT EXISTS does not hold between two processes that look at the same time.
    if (!existsAlready(error)) throw error
    await make()
  }
}
