import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A running nginx, on ports of its own. */
export interface Nginx {
  readonly url: string
  /** Starts new worker processes, with another block `http` where it is given. The old ones finish their requests and close their connections. */
  reload(http?: string): void
  close(): Promise<void>
}

/** True when nginx is installed. Otherwise a message says that its tests are skipped. */
export const nginxInstalled = spawnSync('nginx', ['-v']).error === undefined
if (!nginxInstalled)
  process.stderr.write('\nnginx is not installed: ITS TESTS ARE SKIPPED (apt-get install nginx-light)\n\n')

export const certificates = join(import.meta.dirname, 'certificates')

/** nginx in front of one server. */
export async function startNginx(upstream: string): Promise<Nginx & { readonly secureUrl: string }> {
  const [port, securePort] = [await freePort(), await freePort()]
  const nginx = await runNginx({
    port,
    http: `keepalive_requests 100;
      upstream service { server ${new URL(upstream).host}; keepalive 64; }
      server {
        listen 127.0.0.1:${port};
        listen 127.0.0.1:${securePort} ssl;
        ssl_certificate ${certificates}/foreign.pem; ssl_certificate_key ${certificates}/key.pem;
        location / { proxy_pass http://service; proxy_http_version 1.1; proxy_set_header Connection ""; }
      }`,
  })
  return { ...nginx, secureUrl: `https://localhost:${securePort}` }
}

/** nginx with its block `http`, which listens on the port. */
export async function runNginx({ http, port }: { readonly http: string; readonly port: number }): Promise<Nginx> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-nginx-'))
  const path = (name: string) => join(folder, name)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (each) => `${each}_temp_path ${path(each)};`,
  )
  const configure = (block: string) =>
    writeFileSync(
      path('nginx.conf'),
      `daemon off; worker_processes 2; pid ${path('pid')}; error_log ${path('error.log')} crit;
    ${process.getuid?.() === 0 ? 'user root;' : ''}
    events { worker_connections 512; }
    http { access_log off; ${temporary.join(' ')}
    ${block}
    }\n`,
    )
  configure(http)
  const child = spawn('nginx', ['-e', path('error.log'), '-p', folder, '-c', path('nginx.conf')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  await Promise.race([reachable(port), failed(child)])
  return {
    url: `http://127.0.0.1:${port}`,
    reload(block) {
      if (block !== undefined) configure(block)
      execFileSync('nginx', ['-e', path('error.log'), '-p', folder, '-c', path('nginx.conf'), '-s', 'reload'])
    },
    async close() {
      const ended = once(child, 'exit')
      child.kill()
      await ended
      rmSync(folder, { recursive: true })
    },
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function reachable(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, '127.0.0.1')
    const connected = await new Promise((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    })
    socket.destroy()
    if (connected) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

async function failed(child: ChildProcess): Promise<never> {
  const [code] = await once(child, 'exit')
  throw new Error(`nginx ended with ${code}`)
}
