#!/usr/bin/env node
// Exists before the build, so that npm can link it at installation.
import '../dist/cli.js'
