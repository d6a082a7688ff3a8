import type { OptionName } from './option-table.js'

/** An option that a command alone has. */
interface OwnOption {
  readonly type: 'string' | 'boolean'
  /** May be given several times. */
  readonly multiple?: boolean
  /** Stands for the value in the help. */
  readonly placeholder?: string
  readonly about: string
  /** How the help writes it. @default its name behind two dashes */
  readonly written?: string
}

/** A command, but for `logs` and `values`, which have their own help. */
export interface CommandRow {
  /** What stands behind the options. */
  readonly usage: string
  /** What it does, as the rest of a sentence that begins with its name. */
  readonly about: string
  /** Further sentences. */
  readonly more?: string
  /** The options of the receiver that it has. */
  readonly options: readonly OptionName[]
  readonly own?: Readonly<Record<string, OwnOption>>
  /** The sentence about its exit status. @default that of most commands */
  readonly status?: string
  readonly examples: readonly string[]
}

/** The options of all commands that work on a store. */
export const storeOptions = ['data', 'database', 'json'] as const
export const runOptions = ['port', 'host', 'data', 'database', 'events', 'retain'] as const
export const mcpOptions = ['data', 'database'] as const

const store = { options: storeOptions, usage: '' } as const
const beside = 'It works on the store, also while a receiver runs there.'

/** Every command with its options: what is parsed, and what its help says. */
export const commandTable = {
  run: {
    usage: '-- PROGRAM [ARGUMENTS]',
    about: 'starts a receiver, or joins the one that runs there, and runs a program whose records go to it',
    more: `The program gets SLUICE_URL, SLUICE_API_KEY and SLUICE_BUCKET where they are not set. Output, input and signals are the program's. It ends as the program does, once its records are stored, and says where they are.`,
    options: runOptions,
    own: {
      stay: { type: 'boolean', about: 'keep the receiver running when the program has ended, until Ctrl-C' },
      quiet: { type: 'boolean', about: 'print nothing about the receiver' },
    },
    status:
      '1 no receiver can be started; 2 the command line or a variable is wrong; 126 or 127 the program cannot be started; else that of the program.',
    examples: ['run -- node app.js', 'run --data other --stay -- npm test'],
  },
  page: {
    ...store,
    about: "prints an address that opens the receiver's page in one browser, within ten minutes",
    status: '0 printed; 1 no receiver runs there, or there is no store; 2 the command line or a variable is wrong.',
    examples: ['page', 'page --data /var/lib/sluice'],
  },
  'keys add': {
    ...store,
    about: 'makes an API key and shows it once',
    more: beside,
    own: {
      scope: {
        type: 'string',
        multiple: true,
        placeholder: 'SCOPES',
        about: 'what the key allows: some of ingest, content, read, admin, with commas between them (default ingest)',
      },
      project: {
        type: 'string',
        multiple: true,
        placeholder: 'IDS',
        about: 'projects for which alone the key holds, with commas between them (default all)',
      },
      name: { type: 'string', placeholder: 'TEXT', about: 'name of the key, for the list' },
    },
    examples: ['keys add --scope ingest,read --project shop --name checkout'],
  },
  'keys list': { ...store, about: 'lists the API keys, without the keys themselves', examples: ['keys list --json'] },
  'keys revoke': { ...store, usage: 'ID', about: 'ends an API key', examples: ['keys revoke k3v9x0a1b2c3'] },
  'projects list': { ...store, about: 'lists the projects; each is a bucket', examples: ['projects list'] },
  'projects add': {
    ...store,
    usage: 'ID',
    about: 'makes a project, and with it a bucket',
    more: beside,
    examples: ['projects add shop'],
  },
  'projects plan': {
    ...store,
    usage: 'ID --content|--no-content',
    about: 'changes the plan of a project',
    own: {
      content: {
        type: 'boolean',
        about: 'whether the plan of the project allows content',
        written: '--content, --no-content',
      },
    },
    examples: ['projects plan shop --no-content'],
  },
  backup: {
    ...store,
    options: storeOptions,
    usage: 'FILE',
    about: 'copies the store of a folder into a new file, also while a receiver runs there',
    examples: ['backup /backups/sluice-2026-01-31.sqlite'],
  },
  mcp: {
    usage: '',
    about: 'serves tools of the Model Context Protocol over stdin and stdout to an assistant in an editor',
    more: `It reads from SLUICE_URL with SLUICE_API_KEY and SLUICE_BUCKET, or else from the receiver that runs on the store.`,
    options: mcpOptions,
    status:
      '0 stdin has ended, or a signal came; 2 no receiver runs there, or the command line or a variable is wrong.',
    examples: ['mcp', 'mcp --data /var/lib/sluice'],
  },
} as const satisfies Readonly<Record<string, CommandRow>>
