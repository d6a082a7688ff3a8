#!/usr/bin/env node
import { runProgram } from './cli/program.js'
import { sluice } from './cli/sluice.js'

void runProgram(sluice, process.argv.slice(2)).then((status) => {
  process.exitCode = status
})
