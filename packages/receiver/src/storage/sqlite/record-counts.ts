import { maxNameLength, maxNames, namedFields } from '../records/named-fields.js'
import { earliestMs } from '../records/record-times.js'
import { countedMs, countedValueOf, minuteOf } from './record-values.js'

/**
 * SQL that makes the index of the lanes, and counts the records that are there and their names: what version 4 of the tables brought.
 *
 * @param limit clause behind `FROM records`. `LIMIT -1` is none, and makes SQLite sort the names of the records without their texts
 */
export function countRecords(limit: '' | 'LIMIT -1'): string {
  return `
  CREATE INDEX records_by_lane ON records (lane, id, time_ms, ${countedValueOf('records').replaceAll('records.', '')});
  ALTER TABLE lanes ADD COLUMN records INTEGER NOT NULL DEFAULT 0;
  UPDATE lanes SET records = (SELECT count(*) FROM records WHERE lane = lanes.id);
  CREATE TABLE counts (
    lane INTEGER NOT NULL,
    step_ms INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    value TEXT NOT NULL,
    records INTEGER NOT NULL,
    last_ms REAL NOT NULL,
    PRIMARY KEY (lane, step_ms, at_ms, value)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE names (
    lane INTEGER NOT NULL,
    field TEXT NOT NULL,
    name TEXT NOT NULL,
    records INTEGER NOT NULL,
    PRIMARY KEY (lane, field, name)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO counts SELECT lane, 60000, ${minuteOf('ms')}, value, count(*), max(ms)
    FROM (SELECT lane, ${countedMs('time_ms')} AS ms, ${countedValueOf('records')} AS value FROM records ${limit}) GROUP BY 1, 3, 4;
  INSERT INTO counts SELECT lane, 3600000, (at_ms - ${earliestMs}) / 3600000 * 3600000 + ${earliestMs}, value, sum(records), max(last_ms)
    FROM counts WHERE step_ms = 60000 GROUP BY 1, 3, 4;
  INSERT INTO counts SELECT lane, 0, 0, value, sum(records), max(last_ms) FROM counts WHERE step_ms = 3600000 GROUP BY 1, 4;
  CREATE TEMP TABLE named AS SELECT lane, ${namedFields.join(', ')}, count(*) AS records
    FROM (SELECT lane, ${namedFields.map((field) => `record -> '$.${field}' AS ${field}`).join(', ')} FROM records ${limit})
    GROUP BY ${[1, ...namedFields.map((_, index) => index + 2)].join(', ')};
  UPDATE named SET eventId = NULL WHERE lane IN (SELECT id FROM lanes WHERE kind = 'values');
  INSERT INTO names SELECT lane, field, name, records FROM (
    SELECT *, row_number() OVER (PARTITION BY lane, field ORDER BY records DESC) AS place FROM (
      ${namedFields.map((field) => `SELECT lane, '${field}' AS field, ${field} AS name, sum(records) AS records FROM named GROUP BY 1, 3`).join('\n      UNION ALL ')}
    ) WHERE name IS NOT NULL AND length(name) <= ${maxNameLength}
  ) WHERE place <= ${maxNames};
  DROP TABLE named;
  `
}
