import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads'
import { isSharedMemory } from './host.js'

/**
 * Memory of this name that threads of the process share: this thread, those that it starts after the first call here, and the one that
 * started it if that one called here before. Zero at first. A change of the layout needs a new name: copies of this package share it.
 */
export function sharedMemory(name: string, bytes: number): SharedArrayBuffer {
  const shared: unknown = getEnvironmentData(name)
  if (isSharedMemory(shared)) return shared
  const memory = new SharedArrayBuffer(Math.ceil(bytes / 8) * 8)
  setEnvironmentData(name, memory)
  return memory
}
