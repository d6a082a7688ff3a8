import type { Storage } from '../storage.js'
import { PostgresStorage } from './postgres-storage.js'
import { ShardedStorage } from './sharded-storage.js'

/** Opens the database of each URL. @throws if one cannot be used */
export async function openShards(urls: readonly string[]): Promise<Storage> {
  const [url] = urls
  return urls.length === 1 ? PostgresStorage.open(url!) : ShardedStorage.open(urls)
}

/** Works on a database beside the receivers that may run on it. */
export async function inDatabase<Result>(
  urls: readonly string[],
  work: (storage: Storage) => Promise<Result>,
): Promise<Result> {
  const storage = await openShards(urls)
  try {
    return await work(storage)
  } finally {
    await storage.close()
  }
}
