import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A way to a server that can forget its connections, as a NAT does, or the network of a machine that has lost its power. */
export interface ForgetfulNetwork {
  readonly url: string
  /** Connections so far. */
  connections: number
  /** From here on nothing comes through the present connections, and nobody is told. New ones work. */
  forget(): void
  close(): Promise<void>
}

export async function startForgetfulNetwork(target: string): Promise<ForgetfulNetwork> {
  const { port, hostname } = new URL(target)
  const ways = new Set<{ readonly near: Socket; readonly far: Socket }>()
  const server = createServer((near) => {
    network.connections++
    const far = connect(Number(port), hostname)
    near.pipe(far).pipe(near)
    ways.add({ near, far })
    near.on('error', () => far.destroy())
    far.on('error', () => near.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const network: ForgetfulNetwork = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: 0,
    forget() {
      for (const { near, far } of ways) {
        near.unpipe().resume()
        far.unpipe().resume()
      }
    },
    async close() {
      for (const { near, far } of ways) {
        near.destroy()
        far.destroy()
      }
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return network
}
