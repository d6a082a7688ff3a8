import { spawnSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A small disk of its own for a spool or the data of a receiver, that can be full and be read-only, where this process may mount one; else a folder. */
export class Disk {
  readonly mounted: boolean
  readonly #root: string

  constructor(size = '8m') {
    this.#root = mkdtempSync(join(tmpdir(), 'sluice-chaos-'))
    this.mounted = this.#mount(['-t', 'tmpfs', '-o', `size=${size}`, 'sluice-chaos', this.#root])
  }

  /** Where the spool, or the data, is. */
  get folder(): string {
    return join(this.#root, 'spool')
  }

  /** Not a byte is left, or so many. */
  fill(leftBytes = 0): void {
    const file = openSync(join(this.#root, 'filler'), 'a')
    for (const bytes of [65_536, 4096, 1]) {
      const piece = Buffer.alloc(bytes)
      try {
        while (writeSync(file, piece) > 0);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      }
    }
    ftruncateSync(file, fstatSync(file).size - leftBytes)
    closeSync(file)
  }

  free(): void {
    rmSync(join(this.#root, 'filler'), { force: true })
  }

  /** While no process writes to it. */
  readOnly(on: boolean): void {
    mkdirSync(this.folder, { recursive: true, mode: 0o700 })
    if (!this.#mount(['-o', `remount,${on ? 'ro' : 'rw'}`, this.#root])) throw new Error('the disk is in use')
  }

  deleteFolder(): void {
    // The application may put a file there meanwhile.
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 5 })
  }

  close(): void {
    if (this.mounted) spawnSync('umount', ['--lazy', this.#root])
    if (existsSync(this.#root)) rmSync(this.#root, { recursive: true, force: true })
  }

  #mount(rest: readonly string[]): boolean {
    return spawnSync('mount', rest).status === 0
  }
}
