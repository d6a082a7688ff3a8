import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { Schedule } from './schedule.js'
import { simulate } from './simulation.js'

// Schedules on which the simulator found a fault of the product, as small as it could make them. Each failed before its mend.

const folder = new URL('regressions/', import.meta.url)

it.each(readdirSync(folder))('keeps all promises in %s', async (file) => {
  const schedule = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Schedule
  const { failures } = await simulate(schedule)
  expect(failures).toEqual([])
})
