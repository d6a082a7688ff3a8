/** True in `npm run test:full`, where FULL is `all`. The full part of `.ci/run` leaves it out: these loads take a quarter of an hour. */
export const full = process.env.FULL === 'all'
