import { commits, delivered, type Fault, FaultServer, type Request } from '../../support/fault-server.js'

/** A fault of the server: one of the fault server, no server at all, or a final refusal of every third record. */
export type ServerFault = Fault | { readonly type: 'down' } | { readonly type: 'refuse' }

export interface ChaosServerPlan {
  /** The number of the record that a request carries. */
  readonly identify: (path: string, body: string) => number | undefined
  readonly random: () => number
}

/** The key of all applications that send to such a server. */
export const chaosKey = 'chaos'
const foreign: Fault = { type: 'answer', status: 401 }

const refusal: Fault = {
  type: 'answer',
  status: 400,
  body: '{"isValid":false,"validationErrors":[{"name":"eventId","attemptedValue":"","message":"every third is refused"}]}',
}

/** A server that keeps its lists of taken and refused records when it restarts. */
export class ChaosServer {
  /** Every taken body. A body that is taken twice has two entries. */
  readonly taken: { readonly path: string; readonly body: string }[] = []
  /** Records that it has rejected. */
  readonly refused = new Set<number>()
  /** Requests that the present fault has hit. */
  hits = 0
  readonly #plan: ChaosServerPlan
  readonly #port: number
  #server: FaultServer | undefined
  #fault: Exclude<ServerFault, { type: 'down' }> | undefined
  #share = 1

  private constructor(server: FaultServer, plan: ChaosServerPlan) {
    this.#plan = plan
    this.#port = server.port
    this.#server = server
    server.script = (request) => this.#answer(request)
  }

  static async start(plan: ChaosServerPlan): Promise<ChaosServer> {
    return new ChaosServer(await FaultServer.start(), plan)
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  /** Applies the fault to a share of the requests from now on. `undefined` ends all faults. */
  async set(fault: ServerFault | undefined, share = 1): Promise<void> {
    this.hits = 0
    this.#share = share
    this.#fault = fault?.type === 'down' ? undefined : fault
    if (fault?.type === 'down') {
      await this.close()
      // The kernel refuses the connections, and counts nothing.
      this.hits = 1
    } else this.#server ??= await FaultServer.start((request) => this.#answer(request), { port: this.#port })
  }

  async close(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    await server?.close()
  }

  #answer({ path, body, headers }: Request): Fault {
    // An application of another test may try a port that was its own server's.
    if (headers.get('x-api-key') !== chaosKey) return foreign
    const fault = this.#chosen(path, body)
    if (commits(fault)) this.taken.push({ path, body })
    return fault
  }

  #chosen(path: string, body: string): Fault {
    const fault = this.#fault
    if (fault === undefined || this.#plan.random() >= this.#share) return delivered
    if (fault.type !== 'refuse') {
      this.hits++
      return fault
    }
    const id = this.#plan.identify(path, body)
    if (id === undefined || id % 3 !== 0) return delivered
    this.hits++
    this.refused.add(id)
    return refusal
  }
}
