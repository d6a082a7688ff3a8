import fc from 'fast-check'

// The random tests of a mutant: few runs, the same each time, and no search for a smaller counterexample.
const thorough = process.env.MUTATED_THOROUGHLY === 'yes'

fc.configureGlobal({
  seed: 1,
  endOnFailure: true,
  interruptAfterTimeLimit: thorough ? 2000 : 300,
  timeout: 2000,
  markInterruptAsFailure: false,
})
