import { contestants } from './contestants/contestants.js'

// An application that logs as many lines as it is told through one contestant, and ends as soon as it has nothing more to do.
const [name = '', url = '', lines = ''] = process.argv.slice(2)
const subject = await contestants[name]?.start(url)
if (subject === undefined) throw new Error(`no such contestant: ${name}`)
for (let number = 0; number < Number(lines); number++) subject.log(number)
