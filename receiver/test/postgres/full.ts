/** True in `npm run test:full`, and not in the full part of `.ci/run`: with more records and seeds these tests take a quarter of an hour. */
export const full = process.env.FULL !== undefined
