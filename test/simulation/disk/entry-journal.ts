import { type Loss, survivorsOf } from './file-content.js'
import type { FolderNode, Node } from './node.js'

/** A name in a folder. */
export interface Entry {
  readonly folder: FolderNode
  readonly name: string
}

/** An entry that was made (`to` alone), removed (`from` alone) or renamed, and that may not be on the disk. */
interface EntryChange {
  readonly from: Entry | undefined
  readonly to: Entry | undefined
  readonly node: Node
}

/** The changes of entries of all folders that no sync of a folder has brought to the disk. */
export class EntryJournal {
  #changes: EntryChange[] = []

  add(node: Node, { from, to }: { readonly from?: Entry; readonly to?: Entry }): void {
    this.#changes.push({ from, to, node })
  }

  /** The entries of a folder are on the disk from now on, and with them the earlier changes that they need. */
  sync(folder: FolderNode): void {
    const whole = new Set<FolderNode>([folder])
    const single: Entry[] = []
    const isNeeded = (entry: Entry | undefined) =>
      entry !== undefined &&
      (whole.has(entry.folder) || single.some(({ folder, name }) => folder === entry.folder && name === entry.name))
    const needed = new Set<EntryChange>()
    for (const change of this.#changes.toReversed()) {
      const { from, to, node } = change
      if (!isNeeded(from) && !isNeeded(to)) continue
      needed.add(change)
      for (const entry of [from, to]) if (entry !== undefined) single.push(entry)
      // A folder is removed after all that was in it.
      if (to === undefined && node.type === 'folder') whole.add(node)
    }
    for (const change of needed.size === 0 ? [] : this.#changes) if (needed.has(change)) apply(change)
    this.#changes = this.#changes.filter((change) => !needed.has(change))
  }

  /** The power is lost: a random part of the changes survives. A rename survives as a whole or not at all. */
  lose(loss: Loss): void {
    const changes = this.#changes
    this.#changes = []
    const survivors = chosen(changes, loss.random)
    for (const change of changes) {
      if (survivors.has(change)) apply(change)
      else loss.reached(change.to === undefined ? 'disk: removal lost' : 'disk: entry lost')
    }
  }
}

/** On a file system with a journal the first of all changes survive, on another one those of each folder as they come. */
function chosen(changes: readonly EntryChange[], random: () => number): Set<EntryChange> {
  if (random() < 0.5) return new Set(changes.slice(0, Math.floor(random() * (changes.length + 1))))
  const byFolder = new Map<FolderNode, EntryChange[]>()
  for (const change of changes) {
    const { folder } = (change.to ?? change.from)!
    const others = byFolder.get(folder)
    if (others === undefined) byFolder.set(folder, [change])
    else others.push(change)
  }
  return new Set([...byFolder.values()].flatMap((each) => survivorsOf(each, random)))
}

/** Make a change on the disk. One that is impossible without a change that was lost is lost, too. */
function apply({ from, to, node }: EntryChange): void {
  const before = from?.folder.durable.get(from.name)
  const replaced = to?.folder.durable.get(to.name)
  if (from !== undefined && before !== node) return
  if (from === undefined && replaced !== undefined) return
  if (to === undefined && node.type === 'folder' && node.durable.size > 0) return
  if (replaced?.type === 'folder' && replaced.durable.size > 0) return
  from?.folder.durable.delete(from.name)
  to?.folder.durable.set(to.name, node)
}
