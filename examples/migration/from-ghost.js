// The posts of a Ghost export as the lines that `sluice-tools migrate` takes, drafts and times kept:
//   node examples/migration/from-ghost.js examples/migration/ghost-export.json > articles.ndjson
import { readFileSync } from 'node:fs'

/** @typedef {{ title: string, html: string | null, created_at: string, updated_at: string, published_at: string | null }} Post */

const [file = 'ghost-export.json'] = process.argv.slice(2)
/** @type {{ db: { data: { posts: Post[] } }[] }} */
const { db } = JSON.parse(readFileSync(file, 'utf8'))

for (const post of db.flatMap(({ data }) => data.posts)) {
  const line = {
    fields: { title: post.title, body: post.html ?? '' },
    createdAt: post.created_at,
    updatedAt: post.updated_at,
    publishedAt: post.published_at ?? undefined, // without it the entry is a draft
  }
  console.log(JSON.stringify(line))
}
