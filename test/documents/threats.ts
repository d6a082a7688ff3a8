import type { Proof } from './proof.js'

const proof = (file: string, title: string): Proof => ({ file, title })

/** The threats of docs/threat-model.md, as its tables name them, with the tests that show what holds them. */
export const proofs: Readonly<Record<string, readonly Proof[]>> = {
  'a value crashes or blocks the application that logs it: getters, proxies, cycles, size': [
    proof('test/loggers/hostile-arguments.test.ts', '%s: the line becomes a record, soon'),
  ],
  'a text makes a regular expression slow': [
    proof('test/records/linear-time.test.ts', '%s grows with the length alone, whatever is in it'),
  ],
  'text steers the terminal of a reader of `sluice-receiver logs`: colours, titles, links, reversed writing': [
    proof('packages/receiver/test/commands/logs.test.ts', 'shows signs for the characters that a terminal would obey'),
    proof('packages/receiver/test/commands/logs.test.ts', 'prints with --json the records as the API gives them'),
  ],
  "markup runs in the receiver's page": [
    proof(
      'packages/receiver/test/page/hostile-text.full.test.ts',
      'shows markup, escape sequences and signs that turn the text around as text, in every view',
    ),
  ],
  'text tells an assistant that reads it by `sluice-receiver mcp` what to do': [
    proof('packages/receiver/test/mcp/answers.test.ts', 'is one quoted string on one line: %s'),
    proof('packages/receiver/test/mcp/tools.test.ts', 'changes nothing'),
  ],
  'an exported cell becomes a formula': [
    proof('packages/receiver/test/page/views.full.test.ts', 'can be exported as NDJSON and as CSV'),
  ],
  'a path of a request steers the terminal of the receiver, or makes a line in its access log': [
    proof('packages/receiver/test/access-log.full.test.ts', 'has no line with %s in its path: that is no request'),
  ],
  'a text becomes a part of a request: a header, a second request': [
    proof('test/http/pipelined-sender.test.ts', 'that cannot be a header (%j) is never written'),
  ],
  'a request puts settings on the prototype of all objects (prototype pollution)': [
    proof('test/options/resolve.test.ts', 'do not take %s, nor its variables, from the prototype of all objects'),
    proof(
      'test/scenarios/applications/odd-applications.test.ts',
      'settings on the prototype of all objects are none of the application’s',
    ),
  ],
  'the header `Proxy` of a request becomes `HTTP_PROXY` under CGI (httpoxy)': [
    proof('test/http/proxy.test.ts', 'is not that of HTTP_PROXY under CGI'),
  ],
  'secrets that the application logs by mistake': [
    proof('test/records/redaction.test.ts', 'never has the value of a hidden key, whatever is around it'),
    proof('test/loggers/hidden-keys.test.ts', 'of winston, whatever the format, the level and the message are'),
  ],
  'an endless head or body fills the memory': [
    proof('test/http/response-reader.test.ts', 'are 16 KiB for its head'),
    proof(
      'test/http/response-reader.test.ts',
      'are 512 KiB on the wire for a chunked body, which may come in pieces of %d bytes',
    ),
    proof('test/http/sender.test.ts', 'reads no more than 64 KiB of an answer'),
  ],
  'an answer counts for another record, or bytes behind it become one (response splitting)': [
    proof('test/http/pipelined-sender.test.ts', 'never belongs to another record, however the connections break'),
    proof('test/http/response-reader.test.ts', 'in an answer never make a success of a failure'),
  ],
  'a login page or proxy says 200': [
    proof(
      'test/cli/doctor/doctor.program.test.ts',
      'finds that something else answers instead of the service, such as a login page',
    ),
  ],
  'a redirect carries the key elsewhere': [
    proof('test/http/sender.test.ts', 'reports a redirect as a pause and does not follow it'),
  ],
  'a server accepts and never answers': [
    proof(
      'test/scenarios/applications/harm.test.ts',
      'does not hold a close beyond its deadline, and what it took is counted',
    ),
  ],
  '`Retry-After` of a year': [
    proof(
      'test/delivery/retry-after.test.ts',
      '(%s ms) is honoured for five minutes, and named in the last error as it was asked',
    ),
  ],
  'pages of records that never end': [
    proof(
      'packages/receiver/test/client/reading-client.test.ts',
      'ends with an error where it repeats one, or goes back: %j',
    ),
    proof('packages/receiver/test/client/reading-client.test.ts', 'ends where a page is empty, whatever comes next'),
  ],
  'words of the service steer a terminal or fill a log': [
    proof(
      'test/scenarios/applications/harm.test.ts',
      'comes to stderr on the line that tells of it, without control characters, and cut',
    ),
    proof(
      'test/support/hostile-output.ts',
      'reaches the terminal without control characters, and begins no line of its own',
    ),
  ],
  'the service repeats the key, and it lands in a log': [
    proof('test/content/requests.test.ts', 'are never shown, even if the service repeats them'),
    proof(
      'test/cli/doctor/doctor.program.test.ts',
      'never prints the password of a proxy or the key, even when the service repeats it',
    ),
  ],
  'JSON with `__proto__`, or with thousands of levels': [
    proof('test/http/answer-body.test.ts', 'has no field __proto__'),
  ],
  'somebody listens to the network': [
    proof('test/options/resolve.test.ts', 'accepts plain http on loopback, and elsewhere with allowInsecure'),
    proof('test/cli/doctor/doctor.program.test.ts', 'finds an unknown name, a closed port, and a port without TLS'),
  ],
  'they read the spool': [proof('test/spool/spool.test.ts', 'can be read only by its owner, whatever the umask')],
  'they put a folder or a symbolic link where the spool will be': [
    proof(
      'test/spool/spool-folder.test.ts',
      'is refused when it is a symbolic link: one message says what to do, and memory takes over',
    ),
    proof('test/spool/spool-folder.test.ts', 'is refused when it belongs to another user, and nothing in it is sent'),
  ],
  'they block a thread with a named pipe in place of a lock, a key file or `.env`': [
    proof(
      'test/spool/spool-folder.test.ts',
      'is adopted when the lock is a named pipe, which blocks no thread and counts as an unknown owner',
    ),
    proof('test/options/plain-file.test.ts', 'is a mistake of the configuration where it is %s'),
    proof('test/cli/doctor/doctor.program.test.ts', 'does not wait for a named pipe with the name .env'),
  ],
  "they read the receiver's data": [
    proof(
      'packages/receiver/test/data-folder.test.ts',
      'a data folder and those above it can be read only by their owner, whatever the umask',
    ),
  ],
  "they open the receiver's page by its address in a list of processes or a log": [
    proof('packages/receiver/test/page-session.full.test.ts', 'begins with the token of the start, which works once'),
    proof(
      'packages/receiver/test/keys-command.full.test.ts',
      'has the name that the receiver was given, and its token is over after ten minutes and without a receiver',
    ),
    proof('packages/receiver/test/access-log.full.test.ts', 'never prints a key or the token of the page'),
    proof(
      'packages/receiver/test/server-errors.full.test.ts',
      'is told on stderr in one line, without the key and the token of the request',
    ),
  ],
  'the thief gets the key': [
    proof('test/scenarios/applications/redaction.test.ts', 'and never touches the disk, nor does the key'),
  ],
  'a changed line becomes another record': [proof('test/spool/hostile-lines.test.ts', 'counts as damaged: %s')],
  'a line names another bucket, or smuggles a header': [
    proof('test/spool/hostile-lines.test.ts', 'is not sent, and the lines around it are'),
  ],
  'another page reads, stores or makes keys through the browser (CSRF), also from another port of this machine': [
    proof(
      'packages/receiver/test/page/other-pages.full.test.ts',
      'reads nothing, stores nothing, and does not get the page into a frame',
    ),
    proof('packages/receiver/test/page-session.full.test.ts', 'does nothing when another site has sent it'),
  ],
  'a name of the attacker leads to this machine (DNS rebinding)': [
    proof(
      'packages/receiver/test/page/other-pages.full.test.ts',
      'gets nothing under a name that leads to this machine, and does not use up the address of the page',
    ),
    proof('packages/receiver/test/page-session.full.test.ts', 'gets %s with %j'),
  ],
  'the page in a frame (clickjacking), or its address at another site': [
    proof(
      'packages/receiver/test/page/other-pages.full.test.ts',
      'reads nothing, stores nothing, and does not get the page into a frame',
    ),
  ],
  'another page signs its visitor in with a key of the attacker, or takes a key from the form': [
    proof(
      'packages/receiver/test/page-session.full.test.ts',
      'is not signed in by another site, nor under a name that is not ours, nor with a body that is no form',
    ),
    proof(
      'packages/receiver/test/page-session.full.test.ts',
      'is asked for a key, on a page that needs neither a script nor a built page',
    ),
  ],
  'a key that may only read does more by signing in': [
    proof(
      'packages/receiver/test/page-session.full.test.ts',
      'reads all that the page shows, and changes what its key may change',
    ),
    proof(
      'packages/receiver/test/page-session.full.test.ts',
      'does not learn the key of the start, unless its own may administrate',
    ),
  ],
  'a stolen cookie, or one on a lost machine': [
    proof(
      'packages/receiver/test/page-session.full.test.ts',
      'ends the session at once, with its live streams, and takes the cookie away',
    ),
    proof('packages/receiver/test/page-session.full.test.ts', 'ends with its key at once, and so does its live stream'),
    proof('packages/receiver/test/page-session.full.test.ts', 'ends after twenty others of the same key'),
    proof('packages/receiver/test/postgres/team.test.ts', 'have the same keys, plans and sessions within two seconds'),
  ],
  'the key that a person enters ends up in a log or an address': [
    proof('packages/receiver/test/access-log.full.test.ts', 'never prints a key or the token of the page'),
    proof(
      'packages/receiver/test/page-session.full.test.ts',
      'gets the form again with one line where the key is wrong, or may not read',
    ),
  ],
  'guessing a key': [
    proof(
      'packages/receiver/test/cli.test.ts',
      'shows the key at the first start only, keeps its hash, and mints another when asked',
    ),
    proof(
      'packages/receiver/test/keys.test.ts',
      'are compared in constant time: the whole hash of each of them, whatever is offered',
    ),
  ],
  'the key of an application reads, or makes keys': [
    proof(
      'packages/receiver/test/scopes.test.ts',
      'are named in 403 where one is missing, and let in where it is there',
    ),
    proof('packages/receiver/test/scopes.test.ts', 'of a key without any named are ingest alone'),
  ],
  'the key of one project reads or changes another: by path, by query, in lists, by keys that it makes': [
    proof(
      'packages/receiver/test/bounds.test.ts',
      'is refused by every operation that names another, whether it exists or not, and the answer names it',
    ),
    proof('packages/receiver/test/bounds.test.ts', 'gets of every other operation what the table says'),
    proof(
      'packages/receiver/test/bounds.test.ts',
      'makes, sees and revokes only keys that are bound to some of its projects',
    ),
  ],
  'a body that is huge, deep, or tiny until it is unpacked': [
    proof('packages/receiver/test/limits.full.test.ts', 'may have 1 MiB to the byte, and no more'),
    proof('packages/receiver/test/otlp.test.ts', 'is refused where few bytes stand for much: %s'),
  ],
  'connections that say nothing': [
    proof('packages/receiver/test/strangers.full.test.ts', 'end after 10 s where the receiver speaks HTTPS'),
    proof('packages/receiver/test/strangers.full.test.ts', 'leave room for those of other addresses, over %s'),
  ],
  'a request that never ends': [proof('packages/receiver/test/limits.full.test.ts', 'a request that does not arrive')],
  'an application that floods the others': [
    proof(
      'packages/receiver/test/rate-limit.full.test.ts',
      'answers the records of a key beyond it with 429 and Retry-After, and not those of another key',
    ),
  ],
  'a key that reads much, or reads slowly': [
    proof(
      'packages/receiver/test/searches.full.test.ts',
      'hold up nothing but searches, end after 5 s and with their clients, and have a bound for each key',
    ),
    proof(
      'packages/receiver/test/unread-pages.full.test.ts',
      'have a bound for each key, do not stop others, and end after 30 s',
    ),
  ],
  'a wrong value ends up in a log with the key or a password': [
    proof('test/options/resolve.test.ts', 'never show the key and the token'),
    proof('test/options/resolve.test.ts', 'does not repeat the password in a URL'),
    proof('test/options/resolve.test.ts', 'does not repeat a key that is wrong'),
  ],
  'a package runs code when it is installed': [
    proof(
      'test/scenarios/packages/package.test.ts',
      'is installed alone without a word, a script, or anything that must be compiled',
    ),
  ],
  'a package is exchanged on its way': [
    proof('test/architecture/repository.test.ts', 'names no registry host in the lock file of %s'),
  ],
  'a workflow publishes something else': [
    proof('test/architecture/workflows.test.ts', 'may only read, unless a job says more, and end: %s'),
  ],
}
