import { full } from './full.js'

/** Quadratic work at the long length takes minutes: the short length, which comes first, finds it. */
const lengths = [16_384, full ? 1_048_576 : 65_536]
/** Work that takes no longer than this at the longest text cannot be quadratic. */
const fineMs = 25
/** Time of twice the length as a multiple: 2 where it is linear, 4 where it is quadratic, at every length; memory may cost more at one of them. */
const mostGrowth = 3
const runs = 8

/** Work on a text of a length; what comes before it, such as the making of the text, is not measured. */
export type Work = (length: number) => () => void

/** Why the time of this work grows faster than the length, up to a megabyte; undefined when it does not. */
export function superLinear(work: Work): string | undefined {
  for (const length of lengths) {
    const times = [new Fastest(work(length))]
    if (times[0]!.ms < fineMs) continue
    times.push(new Fastest(work(length / 2)), new Fastest(work(length / 4)))
    for (let run = 1; run < runs && grows(times); run++) for (const each of times) each.again()
    const shown = times.map(({ ms }) => `${ms.toFixed(1)} ms`)
    if (grows(times))
      return `${shown[2]} for ${length / 4} characters, ${shown[1]} for twice, ${shown[0]} for four times as many`
  }
  return undefined
}

function grows([double, single, half]: readonly Fastest[]): boolean {
  return double!.ms > fineMs && double!.ms > mostGrowth * single!.ms && single!.ms > mostGrowth * half!.ms
}

/** The least time of the processor that it has taken: what other processes take does not count, and a collection of garbage only adds to it. */
class Fastest {
  ms = Number.POSITIVE_INFINITY
  readonly #work: () => void

  constructor(work: () => void) {
    this.#work = work
    this.again()
  }

  again(): void {
    const startedAt = process.cpuUsage()
    this.#work()
    const { user, system } = process.cpuUsage(startedAt)
    this.ms = Math.min(this.ms, (user + system) / 1000)
  }
}
