import { createContentClient } from 'sluice/content'

const { total } = await createContentClient().listContentTypes('demo').page()
process.stdout.write(`${total} content types\n`)
