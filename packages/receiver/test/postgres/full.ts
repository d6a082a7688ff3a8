/** True in `npm run test:full`, and not in the full part of `.ci/run`: the tests of PostgreSQL and of all stores then take a quarter of an hour. */
export const full = process.env.FULL !== undefined
