import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { article, startReceiverForTest } from './support.js'

let receiver: Awaited<ReturnType<typeof startReceiverForTest>>
beforeEach(async () => {
  receiver = await startReceiverForTest()
  const schema = article.schema.map((field) => ({ ...field, maxLength: 1000 }))
  await receiver.call('POST', '/api/projects/demo/content-types', { ...article, schema })
})
afterEach(() => receiver.close())

const send = (body: string) => receiver.call('POST', '/ng-cms/content/demo/article', { fields: { title: 'x', body } })

describe('rich text', () => {
  it.each([
    'no markup, a < b && c > d',
    '<h1 class="big">Title</h1><p lang="de">Text<br>and <strong>more</strong> <em>of</em> it</p>',
    '<ul><li>one<li>two</ul><ol start="3"><li>three</ol>',
    '<a href="https://example.com/?a=b" target="_blank" rel="noopener">x</a> <a href="/path#part">y</a> <a href="mailto:a@b.c">z</a>',
    '<figure><img src="images/cat.png" alt="A cat" width="10" height="20"><figcaption>Cat</figcaption></figure>',
    '<table><thead><tr><th scope="col">a</th></tr></thead><tbody><tr><td colspan="2">b</td></tr></tbody></table>',
    '<pre><code>&lt;script&gt;</code></pre><hr><blockquote>q</blockquote>',
  ])('may be %j', async (body) => {
    expect((await send(body)).status).toBe(201)
  })

  it.each([
    ['<script>alert(1)</script>', '<script>, </script>'],
    ['<SCRIPT SRC=x>', '<script>'],
    ['<p onclick="x()">a</p>', 'onclick of <p>'],
    ['<p style="color:red">a</p>', 'style of <p>'],
    ['<a href="javascript:x()">a</a>', 'href of <a>'],
    ['<a href=" java\nscript:x()">a</a>', 'href of <a>'],
    ['<a href="&#106;avascript:x()">a</a>', 'href of <a>'],
    ['<img src="data:text/html,x">', 'src of <img>'],
    ['<a src="x">a</a>', 'src of <a>'],
    ['<iframe src="https://example.com"></iframe>', '<iframe>, </iframe>'],
    ['<svg/onload=x>', '<svg>'],
    ['<body onload=x>', '<body>'],
    ['a<!-- comment -->b', 'a comment'],
    ['<!doctype html>', 'a doctype'],
    ['<![CDATA[x]]>', 'a comment'],
    ['<img src=x onerror=x ', 'a tag without its end'],
    ['<b>x</b><math>y<style>', '<math>, <style>'],
  ])('must not be %j', async (body, refused) => {
    const answer = await send(body)
    expect(answer.status).toBe(400)
    expect(answer.body.validationErrors).toEqual([
      { name: 'body', attemptedValue: body, message: `body has markup that is not accepted: ${refused}` },
    ])
  })

  it('is read in pieces, and others are served between them', async () => {
    const schema = [{ key: 'title', label: 'Title', type: 'richtext', required: true }]
    await receiver.call('POST', '/api/projects/demo/content-types', {
      ...article,
      key: 'long',
      displayField: 'title',
      schema,
    })
    const title = `${'<b>x</b>😀'.repeat(60_000)}<script>`
    const long = receiver.call('POST', '/ng-cms/content/demo/long', { fields: { title } })
    let answered = 0
    let done = false
    void long.then(() => {
      done = true
    })
    for (; !done; answered++) await receiver.call('GET', '/api/health')
    expect(answered).toBeGreaterThan(5)
    const { body } = await long
    expect(body.validationErrors).toMatchObject([{ message: 'title has markup that is not accepted: <script>' }])
  })
})
