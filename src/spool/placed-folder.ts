import { resolve } from 'node:path'

/** The folder from the root on: it stays where it is when the application goes to another one, and is the same in every thread. */
export function placedFolder(folder: string): string {
  try {
    return resolve(folder)
  } catch {
    // The working directory is gone: whoever opens the folder will find that.
    return folder
  }
}
