import fc from 'fast-check'
import { runs } from './full.js'

/** A step in the world of a model. Its name appears in the counterexample. */
export type Step<World> = readonly [name: string, run: (world: World) => unknown]

export interface Model<World> {
  readonly start: () => World
  /** The steps of which a run consists, up to 60 in any order. */
  readonly step: fc.Arbitrary<Step<World>>
  /** Called after the last step. */
  readonly end: (world: World) => Promise<void>
  /** Number of runs. MODEL_RUNS overrides it. */
  readonly runs: Parameters<typeof runs>[0]
}

/** Try random runs of a model. Checks the world after each step. MODEL_SEED repeats the runs of a seed. */
export async function assertModel<World extends { check(): void }>(model: Model<World>): Promise<void> {
  const { MODEL_RUNS, MODEL_SEED } = process.env
  const numRuns = Number(MODEL_RUNS ?? runs(model.runs))
  const named = model.step.map(([name, run]) => ({ run, toString: () => name }))
  await fc.assert(
    fc.asyncProperty(fc.array(named, { maxLength: 60, size: 'max' }), async (steps) => {
      const world = model.start()
      for (const { run } of steps) {
        await run(world)
        world.check()
      }
      await model.end(world)
    }),
    { numRuns, ...(MODEL_SEED === undefined ? {} : { seed: Number(MODEL_SEED) }) },
  )
}
