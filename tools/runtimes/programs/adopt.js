import { createSluice, stats } from 'sluice'

// Logs nothing; ends when it has delivered what another process has left in the spool.
createSluice()
const deadline = performance.now() + 8000
const timer = setInterval(() => {
  if (stats().delivered >= 100 || performance.now() > deadline) clearInterval(timer)
}, 50)
