import fc from 'fast-check'

// The random tests of a mutant: the same runs each time, no search for a smaller counterexample.
fc.configureGlobal({
  seed: 1,
  endOnFailure: true,
  interruptAfterTimeLimit: 300,
  timeout: 1500,
  markInterruptAsFailure: false,
})
