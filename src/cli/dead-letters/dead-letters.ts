import { randomUUID } from 'node:crypto'
import { resolve as absolutePath } from 'node:path'
import { counted } from '../../errors/counted.js'
import { type Command, type CommandLine, unknownName } from '../command.js'
import { confirmed, jsonHelp, type Output, type Status } from '../output.js'
import { replay } from '../replay/replay.js'
import { type Assignment, assign, editByHand, readAssignment } from './editing.js'
import { identityOf, isWritable, type Letter, lettersFolder, lettersIn, removeLetters } from './letters.js'
import { listingOf, noLetters } from './listing.js'

/** The actions, and the options that each takes. */
const actions = {
  list: [],
  show: [],
  edit: ['set'],
  replay: ['dry-run', 'limit-rate'],
  drop: ['all', 'yes'],
} as const
type Action = keyof typeof actions

/** The arguments of `sluice replay`. */
type ReplayArguments = Parameters<typeof replay.run>[0]

interface DeadLettersArguments {
  readonly action: Action
  readonly dir: string
  /** The number or the key of a letter. Undefined for an action on all letters. */
  readonly name: string | undefined
  readonly assignment: Assignment | undefined
  readonly yes: boolean
  readonly json: boolean
  /** Given for the action `replay`. */
  readonly replayed: ReplayArguments | undefined
}

const help = `Usage: sluice dead-letters list FOLDER
       sluice dead-letters show FOLDER N
       sluice dead-letters edit FOLDER N [--set PATH=VALUE]
       sluice dead-letters replay FOLDER [--dry-run] [--limit-rate N]
       sluice dead-letters drop FOLDER N | --all [--yes]

Shows, corrects, sends and removes dead letters: records that the service has rejected. FOLDER is
the folder of SLUICE_SPOOL_DIR, or the dead-letter folder in it. N is the number of a record in
the list, or its idempotency key. Numbers change when records come and go, keys do not.

  list     counts by reason, kind and bucket, with the numbers
  show     one record, and all that the service said about it
  edit     changes one record, in $VISUAL or $EDITOR or by --set; it gets a new idempotency key
  replay   sends all of them, as sluice replay does
  drop     removes one record or all; asks before

  --set PATH=VALUE  set one member, such as level=info or tags.0=7; VALUE is JSON, or else a text
  --all             drop all records that are there now
  --yes             drop without a question
  --dry-run         send nothing; count the records
  --limit-rate N    send at most N records a second
  --json            ${jsonHelp}
  --help            print this

The process that writes the dead letters may run meanwhile. An edited or dropped record stays in
its file, without effect, until all records of that file are delivered or dropped.

Exit status: 0 all was done, 1 something was not, 2 the command line or the configuration is
wrong.

Examples:
  sluice dead-letters list /var/spool/shop
  sluice dead-letters edit /var/spool/shop 3 --set level=info
  sluice dead-letters drop /var/spool/shop --all --yes
`

/** The command `sluice dead-letters`. */
export const deadLetters: Command<DeadLettersArguments> = {
  name: 'dead-letters',
  help,
  options: {
    ...replay.options,
    set: { type: 'string' },
    all: { type: 'boolean' },
    yes: { type: 'boolean' },
  },
  read,
  run,
  failureOf({ code, path, message }, { dir }) {
    if (code === undefined) return undefined
    return path === absolutePath(dir) ? [2, `FOLDER: cannot read ${dir}: ${code}`] : [1, message]
  },
}

function read({ texts, flags, operands }: CommandLine): DeadLettersArguments | string {
  const [action, dir, name, ...more] = operands
  const known = Object.keys(actions).join(', ')
  if (action === undefined) return `expected one of ${known}, got none`
  if (!isAction(action)) return unknownName('action', action, Object.keys(actions))
  if (dir === undefined) return 'FOLDER: expected the name of a folder, got none'
  const own: readonly string[] = actions[action]
  const strange = [...Object.keys(texts), ...flags].find((option) => option !== 'json' && !own.includes(option))
  if (strange !== undefined) return `--${strange}: ${action} does not take it`
  const isSingle = action === 'show' || action === 'edit' || (action === 'drop' && !flags.has('all'))
  if (isSingle && name === undefined) {
    return `N: expected the number or the key of a record${action === 'drop' ? ', or --all' : ''}, got none`
  }
  const [surplus] = isSingle ? more : [name, ...more]
  if (surplus !== undefined) return `${action}: expected no more, got ${surplus}`
  const assignment = texts.set === undefined ? undefined : readAssignment(texts.set)
  if (texts.set !== undefined && assignment === undefined) return `--set: expected PATH=VALUE, got "${texts.set}"`
  const replayed = action === 'replay' ? replay.read({ texts, flags, operands: [dir] }) : undefined
  if (typeof replayed === 'string') return replayed
  return { action, dir, name, assignment, yes: flags.has('yes'), json: flags.has('json'), replayed }
}

function isAction(name: string): name is Action {
  return Object.hasOwn(actions, name)
}

async function run(given: DeadLettersArguments, output: Output): Promise<Status> {
  const { action, name, replayed } = given
  const folder = lettersFolder(given.dir)
  const found = await lettersIn(folder, (text) => output.say(text))
  if (action === 'list') return output.summary(listingOf(found))
  if (replayed !== undefined) {
    if (found.letters.length > 0 || found.damaged > 0) return await replay.run({ ...replayed, dir: folder }, output)
    return output.summary({ ok: true, facts: { records: 0, delivered: 0 }, lines: [noLetters] })
  }
  if (name === undefined) return await drop(found.letters, { given, folder, output })
  const letter = found.letters.find(({ number, idempotencyKey }) =>
    /^\d+$/.test(name) ? number === Number(name) : idempotencyKey === name,
  )
  if (letter === undefined) return output.fail(1, `there is no dead letter ${name}; there are ${found.letters.length}`)
  if (action === 'drop') return await drop([letter], { given, folder, output })
  const body = letter.body()
  if (body === undefined) return output.fail(1, goneMeanwhile)
  return action === 'show' ? show(letter, { body, output }) : await edit(letter, { body, given, folder, output })
}

/** The surroundings of an action. */
interface Work {
  readonly given: DeadLettersArguments
  readonly folder: string
  readonly output: Output
}

function show(letter: Letter, { body, output }: { readonly body: string; readonly output: Output }): Status {
  const { number, idempotencyKey, kind, bucket, refusal } = letter
  const { status, reason, validationErrors } = refusal
  const rejectedAt = new Date(refusal.rejectedAt).toISOString()
  const record: unknown = JSON.parse(body)
  return output.summary({
    ok: true,
    facts: { number, key: idempotencyKey, kind, bucket, rejectedAt, status, reason, validationErrors, record },
    lines: [
      `${number}: ${kind} of bucket ${bucket}, rejected at ${rejectedAt}`,
      `key ${idempotencyKey}`,
      `status ${status}: ${reason}`,
      ...JSON.stringify(record, null, 2).split('\n'),
    ],
  })
}

async function edit(
  letter: Letter,
  { body, given, folder, output }: Work & { readonly body: string },
): Promise<Status> {
  const { assignment, json } = given
  const command = process.env.VISUAL || process.env.EDITOR
  if (assignment === undefined && command === undefined) {
    return output.fail(2, 'edit: expected --set PATH=VALUE, or an editor in the variable EDITOR')
  }
  const edited =
    assignment === undefined ? await editByHand(body, { command: command!, quiet: json }) : assign(body, assignment)
  if ('fault' in edited) return output.fail(1, edited.fault)
  const { number, refusal } = letter
  if (edited.body === body) {
    const facts = { number, changed: false, key: letter.idempotencyKey }
    return output.summary({ ok: true, facts, lines: [`${number} is unchanged`] })
  }
  // The service may remember the old key together with its refusal.
  const key = randomUUID()
  const replacement = { ...letter, refusal, idempotencyKey: key, body: edited.body }
  if (!isWritable(replacement)) return output.fail(1, 'a dead letter cannot hold this record: it has a member "record"')
  const removed = await removeLetters(folder, {
    chosen: (record) => identityOf(record) === identityOf(letter) && record.body === body,
    replacement,
    say: (text) => output.say(text),
  })
  if (typeof removed !== 'number') return output.fail(1, removed.refused)
  if (removed === 0) return output.fail(1, goneMeanwhile)
  return output.summary({
    ok: true,
    facts: { number, changed: true, key },
    lines: [`${number} is changed and has the key ${key}`, 'to send it: sluice dead-letters replay'],
  })
}

async function drop(letters: readonly Letter[], { given, folder, output }: Work): Promise<Status> {
  const [only] = given.name === undefined ? [] : letters
  if (letters.length === 0) return output.summary({ ok: true, facts: { dropped: 0 }, lines: [noLetters] })
  const words =
    only === undefined ? counted(letters.length, 'dead letter') : `dead letter ${only.number} (${only.refusal.reason})`
  if (!given.yes && !(await confirmed(`drop ${words} for ever?`))) return output.fail(1, 'nothing is dropped')
  const chosen = new Set(letters.map(identityOf))
  const dropped = await removeLetters(folder, {
    chosen: (record) => record.refusal !== undefined && chosen.has(identityOf(record)),
    say: (text) => output.say(text),
  })
  if (typeof dropped !== 'number') return output.fail(1, dropped.refused)
  if (dropped === 0) return output.fail(1, goneMeanwhile)
  return output.summary({ ok: true, facts: { dropped }, lines: [`${counted(dropped, 'dead letter')} dropped`] })
}

const goneMeanwhile = 'it has gone meanwhile: another command has delivered, changed or dropped it'
