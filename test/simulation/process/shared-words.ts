/**
 * Memory of two threads as each of them sees it. In a simulation the code of a thread that was killed runs on until its event is over, and
 * must not write into memory that others read: so each thread has its own, and what one has changed is copied to the other after each event.
 */
export class SharedWords {
  readonly ofWorker: SharedArrayBuffer
  /** Words that the worker has changed. */
  readonly changedByWorker = new Set<number>()
  readonly #app: Int32Array
  readonly #worker: Int32Array
  /** As both were after the last copy. */
  readonly #both: Int32Array
  readonly #views: readonly Buffer[]

  constructor(ofApp: SharedArrayBuffer) {
    this.ofWorker = new SharedArrayBuffer(ofApp.byteLength)
    const both = new ArrayBuffer(ofApp.byteLength)
    this.#app = new Int32Array(ofApp)
    this.#worker = new Int32Array(this.ofWorker)
    this.#both = new Int32Array(both)
    this.#views = [Buffer.from(ofApp), Buffer.from(this.ofWorker), Buffer.from(both)]
    this.#worker.set(this.#app)
    this.#both.set(this.#app)
  }

  /** @param toWorker what the worker gets of a word that the application has changed @default what that has written */
  copy(toWorker: (word: number, value: number) => number = (_, value) => value): void {
    const [app, worker, both] = this.#views as [Buffer, Buffer, Buffer]
    if (app.equals(both) && worker.equals(both)) return
    for (let word = 0; word < this.#both.length; word++) {
      const before = this.#both[word]!
      const written = this.#worker[word]!
      if (written !== before) {
        this.#app[word] = written
        this.changedByWorker.add(word)
      } else if (this.#app[word] !== before) this.#worker[word] = toWorker(word, this.#app[word]!)
      this.#both[word] = this.#worker[word]!
    }
  }
}
