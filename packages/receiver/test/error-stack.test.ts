import { expect, it } from 'vitest'
import { errorKindOf, mayHaveError } from '../src/storage/records/error-kind.js'

const kindOf = (message: string, level = 'error') => errorKindOf({ level, message })

const java = `com.shop.OrderMissing: order 17 is gone
\tat java.base/java.util.Optional.orElseThrow(Optional.java:403)
\tat app//com.shop.Orders.lambda$place$3(Orders.java:81)
\tat org.springframework.web.Servlet.service(Servlet.java:9)
Caused by: java.io.IOException: other
\t... 3 more`
const python = `Traceback (most recent call last):
  File "/srv/shop/releases/81/shop/orders.py", line 12, in place
    self.stock.take(order)
    ~~~~~~~~~~~~~~~^^^^^^^
  File "/srv/shop/.venv/lib/python3.12/site-packages/orm/session.py", line 90, in take
    raise KeyError(key)
shop.errors.OrderMissing: order 17 is gone
for the second time`
const go = `panic: runtime error: index out of range [5] with length 3 [recovered]

goroutine 17 [running]:
panic({0x4b2f60?, 0xc000014120?})
\t/usr/local/go/src/runtime/panic.go:785 +0x132
github.com/me/shop/orders.(*Store).Place(0xc00001, {0x4, 0x5})
\t/srv/shop/orders/store.go:12 +0x1d
net/http.HandlerFunc.ServeHTTP(0xc0000b2000?)
\t/usr/local/go/src/net/http/server.go:2220 +0x29`
const dotnet = `System.InvalidOperationException: order 17 is gone ---> System.IO.IOException: other
   at System.Linq.Enumerable.First[TSource](IEnumerable\`1 source)
   --- End of inner exception stack trace ---
   at Shop.Orders.<PlaceAsync>d__12.MoveNext() in /srv/agent/_work/17/src/Shop/Orders.cs:line 42
   at Program.Main(String[] args)`
const javaScript = `TypeError: order 17 is gone
    at node:internal/a:1:2
    at async place (/srv/shop/releases/81/src/orders.js:12:7)`

it.each([
  ['Java', java, ['com.shop.OrderMissing', 'order <n> is gone', 'com.shop.Orders.lambda$place$<n> (Orders.java)']],
  ['Python', python, ['shop.errors.OrderMissing', 'order <n> is gone', 'place (orders.py)']],
  [
    'Go',
    go,
    [
      'panic',
      'runtime error: index out of range [<n>] with length <n> [recovered]',
      'github.com/me/shop/orders.(*Store).Place (store.go)',
    ],
  ],
  [
    '.NET',
    dotnet,
    [
      'System.InvalidOperationException',
      'order <n> is gone',
      'Shop.Orders.<PlaceAsync>d__<n>.MoveNext (src/Shop/Orders.cs)',
    ],
  ],
  ['JavaScript', javaScript, ['TypeError', 'order <n> is gone', 'place (src/orders.js)']],
])('reads a stack of %s, at any level, behind a text and a context', (_, written, [type, message, frame]) => {
  const other = written
    .replaceAll('17', '18')
    .replaceAll(/:(?:line )?12\b|:42\b|:81\b/g, ':99')
    .replaceAll('/srv/', '/opt/')
    .replaceAll('/81/', '/82/')
  const coloured = written.replaceAll(/^.+$/gm, '\u001b[90m$&\u001b[39m')
  const texts = [written, `failed {"order":17}\n${written}`, `failed\n${written}`, other, coloured]
  for (const text of texts) {
    expect(kindOf(text, 'info')).toMatchObject({ type, message, frame })
    expect(mayHaveError({ level: 'info', json: JSON.stringify({ message: text }) })).toBe(true)
  }
})

it.each([
  [
    'Exception in thread "main" java.lang.Error\n\tat Main.main(Main.java:1)',
    ['java.lang.Error', '', 'Main.main (Main.java)'],
  ],
  [
    'a.B: x\n\tat com.a.B$$Lambda$14/0x0000000800066840.run(Unknown Source)',
    ['a.B', 'x', 'com.a.B$$Lambda$<n>$<id>.run'],
  ],
  ['Unhandled exception. Shop.Gone: x\n   at Program.<Main>$(String[] args)', ['Shop.Gone', 'x', 'Program.<Main>$']],
  [
    `Traceback (most recent call last):
  File "/a/x.py", line 1, in f
    g()
ValueError: a

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/a/y.py", line 2, in <module>
    f()
KeyboardInterrupt`,
    ['KeyboardInterrupt', '', '<module> (y.py)'],
  ],
  [
    'boom {"a":1}\n*errors.errorString: gone\ngoroutine 1 [running]:\nmain.place()\n\t/go/src/app/main.go:5 +0x1',
    ['*errors.errorString', 'gone', 'main.place (main.go)'],
  ],
  [
    'no stock\nmain.place\n\t/home/ann/shop/main.go:5\nruntime.main\n\t/usr/local/go/src/runtime/proc.go:250',
    [null, 'no stock', 'main.place (main.go)'],
  ],
  ['checkout failed {"a":1}\nOrderMissing: order 17', ['OrderMissing', 'order <n>', null]],
  ['checkout failed\nRuntimeError: order 17', ['RuntimeError', 'order <n>', null]],
])('reads the error of %j', (message, [type, text, frame]) => {
  expect(kindOf(message)).toMatchObject({ type, message: text, frame })
})

it.each([
  ['a file with a hash', ['/srv/dist/index-BxYzAbCd.js', '/srv/dist/index-B_x-9aZq.js', '/srv/dist/index-ABCDEFGH.js']],
  ['a file that is a hash', ['/static/3f9c21ab0d.js', '/static/0011aabbcc.js']],
  ['a numbered chunk', ['/_next/static/chunks/117.3f9c21.js', '/_next/static/chunks/9.0a1b2c.js']],
  ['a release', ['/var/www/shop/releases/20260131120000/cart.js', '/srv/releases/81/cart.js', '/shop/current/cart.js']],
  ['a release below a folder of sources', ['/srv/lib/releases/81/cart.js', '/srv/server/releases/82/cart.js']],
  ['a version', ['/srv/dist/1.2.3/cart.js', '/srv/dist/1.10.0/cart.js']],
  [
    'the place of the installation',
    [
      '/app/cart.js',
      '/opt/shop-1.2.3/cart.js',
      'C:\\shop\\cart.js',
      '\\\\server\\share\\cart.js',
      '/usr/lib/shop/cart.js',
      '/home/server/cart.js',
      'file:///srv/cart.js',
      'https://shop.example:8080/js/cart.js?v=2',
    ],
  ],
])('is one kind for %s', (_, places) => {
  const kinds = places.map((place) => kindOf(`Error: a\n    at f (${place}:12:3)`)!)
  expect(new Set(kinds.map(({ frame }) => frame)).size, kinds.map(({ frame }) => frame).join()).toBe(1)
})

it('tells files apart whose names are words, versions of an API, and functions', () => {
  const frames = [
    'f (/srv/src/order-checkout.js',
    'f (/srv/src/order-settings.js',
    'f (/srv/src/order-ShopCart.js',
    'f (/srv/src/v1/a.js',
    'f (/srv/src/v2/a.js',
    'g (/srv/src/v2/a.js',
  ]
  const kinds = frames.map((frame) => kindOf(`Error: a\n    at ${frame}:12:3)`)!)
  expect(new Set(kinds.map(({ id }) => id)).size).toBe(frames.length)
})
