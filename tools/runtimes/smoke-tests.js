import { ways } from './programs/ways.js'

/** @import { Runtime } from './runtimes.js' */

/**
 * The outcome of a run, seen from outside.
 *
 * @typedef {object} Outcome
 * @property {string} logs numbers of the log records that arrived, as `describe` has them
 * @property {string} values the same of value records
 * @property {number | NodeJS.Signals | null} status exit code, or the signal of which it died
 * @property {string | RegExp} stdout
 * @property {string | RegExp} stderr
 */

/**
 * @typedef {object} SmokeTest
 * @property {string} name
 * @property {readonly string[]} program what is run, with its arguments
 * @property {Outcome | ((runtime: Runtime) => Outcome)} outcome what must be seen
 * @property {Readonly<Record<string, string>>} [variables]
 * @property {'preload' | 'spool'} [flags] what the runtime must be told besides
 * @property {string} [input] what it gets on stdin
 * @property {{ line: string, signal: NodeJS.Signals }} [signal] sent when it prints this line
 * @property {Pick<SmokeTest, 'program' | 'variables'>} [before] what is run before it, whatever comes of that
 */

const all = '1–100'
const none = 'none'
/** @type {Outcome} */
const quiet = { logs: none, values: none, status: 0, stdout: '', stderr: '' }
const lines = Array.from({ length: 100 }, (_, index) => `line ${index + 1}\n`).join('')

/** @type {readonly (Pick<SmokeTest, 'name' | 'signal'> & { outcome: Partial<Outcome> })[]} */
const ends = [
  { name: 'natural end', outcome: {} },
  { name: 'exit', outcome: { status: 3 } },
  {
    name: 'flush',
    outcome: { status: 'SIGKILL', stdout: 'flushed\n' },
    signal: { line: 'flushed\n', signal: 'SIGKILL' },
  },
  {
    name: 'SIGTERM',
    outcome: { status: 'SIGTERM', stdout: 'logged\n' },
    signal: { line: 'logged\n', signal: 'SIGTERM' },
  },
  { name: 'exception', outcome: { status: 1, stderr: /not caught/ } },
]

/** @type {readonly SmokeTest[]} */
export const smokeTests = [
  ...Object.keys(ways).flatMap((way) =>
    ends.map(({ name, signal, outcome }) => ({
      name: `${way}: ${name}`,
      program: ['application.js', way, name],
      outcome: { ...quiet, ...(way === 'track' ? { values: all } : { logs: all }), ...outcome },
      ...(signal === undefined ? {} : { signal }),
    })),
  ),
  { name: 'pino target: out of reach', program: ['out-of-reach.js'], outcome: { ...quiet, logs: all } },
  {
    name: 'inline: exit',
    program: ['application.js', 'winston', 'exit'],
    variables: { SLUICE_MODE: 'inline' },
    outcome: { ...quiet, logs: all, status: 3 },
  },
  { name: 'an exception that is survived', program: ['survivor.js'], outcome: { ...quiet, logs: all } },
  {
    name: 'pino alone: exception',
    program: ['pino-alone.js', 'exception'],
    outcome: { ...quiet, logs: all, status: 1, stderr: /not caught/ },
  },
  {
    name: 'pino alone, register: exception',
    program: ['pino-alone.js', 'exception'],
    flags: 'preload',
    outcome: { ...quiet, logs: all, status: 1, stderr: /not caught/ },
  },
  {
    name: 'pino alone, register: SIGTERM',
    program: ['pino-alone.js', 'SIGTERM'],
    flags: 'preload',
    outcome: { ...quiet, logs: all, status: 'SIGTERM', stdout: 'logged\n' },
    signal: { line: 'logged\n', signal: 'SIGTERM' },
  },
  {
    name: 'spool of another process',
    program: ['adopt.js'],
    flags: 'spool',
    before: { program: ['application.js', 'winston', 'exit'], variables: { SLUICE_API_KEY: 'wrong' } },
    outcome: { ...quiet, logs: all },
  },
  {
    name: 'require: each entry',
    program: ['entries.cjs'],
    outcome: {
      ...quiet,
      stdout: ['', '/pino', '/winston', '/testing', '/content', '/metrics', '/register']
        .map((entry) => `sluice${entry} as imported\n`)
        .join(''),
    },
  },
  { name: 'require: an application', program: ['application.cjs'], outcome: { ...quiet, logs: all, values: all } },
  { name: 'content', program: ['content.js'], outcome: { ...quiet, stdout: '0 content types\n' } },
  { name: 'captureSluice', program: ['captured.js'], outcome: { ...quiet, stdout: '100 lines, 100 values\n' } },
  {
    name: 'sluice-tools ship',
    program: ['node_modules/sluice-tools/bin/sluice-tools.js', 'ship'],
    input: lines,
    outcome: { ...quiet, logs: all, stdout: lines, stderr: /100 of 100 records delivered/ },
  },
  {
    name: 'sluice doctor',
    program: ['node_modules/sluice/dist/cli.js', 'doctor', '--no-send'],
    outcome: ({ name, version }) => ({
      ...quiet,
      stdout: new RegExp(`, ${name.startsWith('Node') ? 'Node.js' : name} ${version}\\n[^]*no problems found\\n$`),
    }),
  },
]
