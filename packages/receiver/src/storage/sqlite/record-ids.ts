/** SQL for the largest id that a record has or had. The next record gets the next one: an id never comes twice, for readers remember it. */
export const lastGivenId =
  'SELECT max(last_forgotten_id, coalesce((SELECT max(id) FROM main.records), 0)) AS id FROM main.identity'
