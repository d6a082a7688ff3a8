// Posts of another system become entries that keep their times. Run with SLUICE_URL, SLUICE_API_KEY and SLUICE_BUCKET set, where that
// project has a content type `article` with a title and a body. A whole file of them: `sluice-tools migrate`.
import { ApiError, contentType, createContentClient } from 'sluice/content'

const posts = [
  { headline: 'Hello', html: '<p>The first one.</p>', written: '2019-05-01T12:00:00Z', online: '2019-05-02T08:00:00Z' },
  { headline: 'Unsafe', html: '<script>alert(1)</script>', written: '2020-05-01T12:00:00Z' },
]

const project = process.env.SLUICE_BUCKET ?? 'demo'
const content = createContentClient()

for await (const { key, schema } of content.listContentTypes(project)) {
  console.log(`${key}: ${schema.map((field) => field.key).join(', ')}`)
}

/** @type {import('sluice/content').ContentType<{ title: string, body?: string }>} */
const article = contentType('article')

for (const { headline, html, written, online } of posts) {
  try {
    const fields = { title: headline, body: html }
    await content.migrateEntry(project, { type: article, fields, createdAt: written, publishedAt: online })
    console.log(`${headline}: migrated`)
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'validation-failed') throw error
    for (const { name, message } of error.validationErrors) console.log(`${headline}: not valid, ${name}: ${message}`)
  }
}
