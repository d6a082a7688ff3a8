const width = 180
const height = 24

/** A small chart of counts. Its colour is that of the text around it. */
export function Sparkline({ counts }: { readonly counts: readonly number[] }) {
  const highest = Math.max(1, ...counts)
  const step = width / counts.length
  const bars = counts.map((count, index) => {
    const tall = count === 0 ? 0 : Math.max(1, (count / highest) * height)
    return `M${index * step} ${height}v${-tall}h${step * 0.75}v${tall}z`
  })
  return (
    <svg class="sparkline" viewBox={`0 0 ${width} ${height}`} width={width} height={height} aria-hidden="true">
      <path d={bars.join('')} fill="currentColor" />
    </svg>
  )
}
