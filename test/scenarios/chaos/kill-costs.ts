import { setTimeout as passed } from 'node:timers/promises'
import { Disk } from '../../support/disk.js'
import { Application } from './application.js'
import { ChaosServer, chaosKey } from './chaos-server.js'
import { Oracle, type Verdict, ways } from './oracle.js'
import { replay } from './replay.js'

/** Kills an application again and again while it logs in three ways without a pause. Returns the lost records. */
export async function killCosts(kills: number, random: () => number): Promise<Verdict> {
  const oracle = new Oracle()
  const disk = new Disk()
  const server = await ChaosServer.start({ identify: (path, body) => oracle.identify(path, body), random })
  const lives = []
  try {
    for (let kill = 0; kill < kills; kill++) {
      const application = await Application.start({
        variables: {
          SLUICE_URL: server.url,
          SLUICE_API_KEY: chaosKey,
          SLUICE_BUCKET: 'chaos',
          SLUICE_SPOOL_DIR: disk.folder,
        },
      })
      lives.push(application.life)
      const bursts = ways.map((way) => application.log(way, { first: oracle.mint(way, 2000), count: 2000 }))
      await passed(20 + random() * 200)
      await application.kill()
      await Promise.all(bursts)
    }
    await replay(disk.folder, server.url)
    return oracle.verdict({ lives, taken: server.taken, refused: server.refused, deadLetters: new Set() })
  } finally {
    await server.close()
    disk.close()
  }
}

/** The quantile of the samples. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
