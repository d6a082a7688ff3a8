import { type OptionName, type OptionRow, optionNames, optionTable, variableOf, writtenName } from './option-table.js'
import { flag } from './option-value.js'

const indent = ' '.repeat(17)

/** The text of `--help`, made from the table of options. */
export const helpText = `Usage: sluice-receiver [options]
       sluice-receiver run [options] -- PROGRAM [ARGUMENTS]
       sluice-receiver keys add [--scope SCOPES] [--project IDS] [--name TEXT]
       sluice-receiver keys list
       sluice-receiver keys revoke ID
       sluice-receiver page
       sluice-receiver projects list
       sluice-receiver projects add ID
       sluice-receiver projects plan ID --content|--no-content
       sluice-receiver backup FILE
       sluice-receiver logs [options]
       sluice-receiver values [options]
       sluice-receiver mcp [--data DIR]

Receives logs and value events over the Content, Logging and Value-Tracking HTTP API and keeps them
in SQLite or PostgreSQL.

run starts a receiver, or joins the one that runs on the folder of --data, and runs a program whose records go there; --quiet prints nothing.
keys, page, projects and backup work on the folder of --data, also while a receiver runs there; with --json they print JSON.
page prints an address that opens the receiver's page in one browser, within ten minutes.
logs prints the records of a receiver that runs, here or elsewhere, and values counts its value events; see their --help.
mcp serves tools of the Model Context Protocol over stdin and stdout to an assistant in an editor: from SLUICE_URL with SLUICE_API_KEY and SLUICE_BUCKET, or else the receiver that runs on the folder of --data.

Options, each with the variable that sets it. An option of the command wins; --no-json and its like turn off what a variable turns on.

${optionNames.map(linesOf).join('\n')}
  --scope SCOPES
                 what the new key allows: some of ingest, content, read, admin, with commas between them (default ingest)
  --project IDS
                 projects for which alone the new key holds, with commas between them (default all)
  --name TEXT
                 name of the new key, for the list
  --content, --no-content
                 whether the plan of the project allows content
  --version      print the version
  --help         print this

Example: sluice-receiver --port 0 --data :memory: --json
`

function linesOf(name: OptionName): string {
  const row: OptionRow = optionTable[name]
  const { placeholder, about, default: fallback } = row
  const written = `--${writtenName(name)}${placeholder === undefined ? '' : ` ${placeholder}`}`
  const ending = fallback === undefined || row.kind === flag ? '' : ` (default ${fallback})`
  return `  ${written}, ${variableOf(name)}\n${indent}${about.replaceAll('`', '')}${ending}`
}
