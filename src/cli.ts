#!/usr/bin/env node
import { sluice } from './cli/sluice.js'

void sluice(process.argv.slice(2)).then((status) => {
  process.exitCode = status
})
