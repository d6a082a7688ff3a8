import { commits, delivered, type Fault, FaultServer, type Request } from '../../support/fault-server.js'

/** What the server does wrong for a while: one of the fault server's, or it is not there, or it refuses every third record for good. */
export type ServerFault = Fault | { readonly type: 'down' } | { readonly type: 'refuse' }

export interface ChaosServerPlan {
  /** The number of the record that a request carries. */
  readonly identify: (path: string, body: string) => number | undefined
  readonly random: () => number
}

const refusal: Fault = {
  type: 'answer',
  status: 400,
  body: '{"isValid":false,"validationErrors":[{"name":"eventId","attemptedValue":"","message":"every third is refused"}]}',
}

/** A server that remembers through its restarts what it has taken and refused. */
export class ChaosServer {
  /** Every taken body, one entry for each time. */
  readonly taken: { readonly path: string; readonly body: string }[] = []
  /** Records that it has refused for good. */
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

  /** Do this to a share of the requests from now on; undefined: nothing wrong any more. */
  async set(fault: ServerFault | undefined, share = 1): Promise<void> {
    this.hits = 0
    this.#share = share
    this.#fault = fault?.type === 'down' ? undefined : fault
    if (fault?.type === 'down') {
      await this.close()
      // Nobody counts what is refused by the kernel.
      this.hits = 1
    } else this.#server ??= await FaultServer.start((request) => this.#answer(request), { port: this.#port })
  }

  async close(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    await server?.close()
  }

  #answer({ path, body }: Request): Fault {
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
