import { parentPort, workerData } from 'node:worker_threads'
import { hostEngines } from './engine-host.js'
import type { WorkerPlan } from './protocol.js'

// The file of the delivery worker: `WorkerLink` starts a thread with it.
const plan = workerData as WorkerPlan
hostEngines(plan, {
  listen: (listener) => void parentPort!.on('message', listener),
  post: (message) => plan.news.postMessage(message),
})
