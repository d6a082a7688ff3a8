import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads'
import { isSharedMemory } from './host.js'

/**
 * Memory that this thread shares with those that it starts from now on, and with the one that started it if that did the same before;
 * zero at first.
 */
export function sharedMemory(key: string, bytes: number): SharedArrayBuffer {
  const shared: unknown = getEnvironmentData(key)
  if (isSharedMemory(shared)) return shared
  const memory = new SharedArrayBuffer(bytes)
  setEnvironmentData(key, memory)
  return memory
}
