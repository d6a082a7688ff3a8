import type { Proof } from './proof.js'

/** @param file below `test` */
const proof = (file: string, title: string): Proof => ({ file: `test/${file}`, title })

/** The rows of "What happens when" in the README and of "What else happens when" in docs/delivery.md, by their first words in bold, with the tests that prove them. */
export const proofs: Readonly<Record<string, readonly Proof[]>> = {
  'the service is down': [
    proof(
      'scenarios/applications/service-trouble.test.ts',
      'delivers every record once, those from before, during and after',
    ),
    proof(
      'delivery/delivery.test.ts',
      'probes with one record at a time while the service is out of reach, and delivers everything after',
    ),
    proof('delivery/delivery.test.ts', 'begins with one record in flight again after an outage'),
    proof(
      'scenarios/applications/service-trouble.test.ts',
      'is reported once, with the reason, wherever the records come from, and so is its end',
    ),
    proof(
      'delivery/herd.test.ts',
      'goes through an outage of ten minutes (%s) without a storm, and comes back without a stampede',
    ),
    proof('scenarios/faults/outcomes.test.ts', '503 with Retry-After in %s: not sent again before'),
    proof(
      'delivery/retry-after.test.ts',
      '(%s ms) is honoured for five minutes, and named in the last error as it was asked',
    ),
  ],
  'the key is wrong': [
    proof(
      'scenarios/applications/service-trouble.test.ts',
      'pauses on a wrong key and tells once, with the records kept',
    ),
    proof('scenarios/applications/service-trouble.test.ts', 'pauses on an unknown bucket'),
    proof(
      'delivery/delivery.test.ts',
      'pauses every lane of a wrong key with one message, probes rarely, and resumes by itself',
    ),
    proof(
      'delivery/suspects.test.ts',
      '%s of one record pauses nothing; the same of a second one pauses, with one message',
    ),
    proof('scenarios/faults/rotated-key.test.ts', 'is read again by the next probe when the old one was refused first'),
  ],
  'the service refuses a record': [
    proof('scenarios/faults/outcomes.test.ts', '%s: this record alone is rejected, and told why'),
    proof(
      'scenarios/applications/winston.test.ts',
      'counts a line that the service refuses as rejected, tells why, and delivers the others',
    ),
    proof('spool/failing-disk.test.ts', 'is a dead letter, with the reason, before it is settled'),
    proof(
      'scenarios/applications/rejections.test.ts',
      'gives the rejected records of every logger and of track, pino’s workers included',
    ),
  ],
  'the queue is full': [
    proof('delivery/suspects.test.ts', 'is shed before all others when memory is full, whatever its severity'),
    proof(
      'scenarios/applications/service-trouble.test.ts',
      'keeps the newest up to the bound, counts what it drops, and says so',
    ),
    proof(
      'delivery/delivery.test.ts',
      'hold in records, including those in flight: the lowest severity leaves first, the oldest first within it',
    ),
    proof(
      'scenarios/applications/harm.test.ts',
      'cause a few lines on stderr, add up everywhere, and survive a listener that throws, mode %s',
    ),
  ],
  '`process.exit()`': [
    proof(
      'scenarios/applications/worker.test.ts',
      '$way, $end: all are delivered, exit code and stderr are as without Sluice',
    ),
    proof(
      'scenarios/applications/worker.test.ts',
      '%s: comes by the deadline when the server never answers, and says in one line what was lost',
    ),
  ],
  'SIGTERM, SIGINT': [
    proof(
      'scenarios/applications/signals.test.ts',
      '$way, $signal: everything is delivered, and the status is that signal',
    ),
    proof('scenarios/applications/signals.test.ts', 'a signal to an application with a listener of its own'),
    proof('scenarios/applications/signals.test.ts', 'delivers for a bare pino target with --import sluice/register'),
    proof('scenarios/applications/pino-alone.test.ts', '%s: everything is delivered, and the status is that signal'),
    proof(
      'scenarios/applications/raised-signals.test.ts',
      '$way, $mode, $signal, $how: dies of it, and everything is delivered',
    ),
  ],
  SIGKILL: [
    proof('scenarios/applications/spool.test.ts', 'leaves nothing behind that the next one would not deliver: %s, %s'),
    proof('scenarios/chaos/chaos.test.ts', 'costs only what had not reached the worker'),
  ],
  'the worker dies': [
    proof('scenarios/applications/worker.test.ts', 'is started again when it dies, and what it had not taken goes on'),
    proof('scenarios/applications/worker.test.ts', 'is started again after a rest when it has died twice in a minute'),
    proof('scenarios/applications/worker.test.ts', 'is given up, and all others arrive, while the application goes on'),
    proof(
      'hand-off/supervisor.test.ts',
      'keeps delivery out of the application’s thread when a later worker fails at its start',
    ),
  ],
  'the plan is unpaid': [
    proof(
      'scenarios/faults/outcomes.test.ts',
      '%i: pauses %j (logs, values), one message, the record kept, then resumed by itself',
    ),
  ],
  'something else answers': [
    proof('scenarios/faults/outcomes.test.ts', '2xx with %s is none of the service: the lane pauses, with one message'),
    proof(
      'cli/doctor/doctor.program.test.ts',
      'finds that something else answers instead of the service, such as a login page',
    ),
    proof(
      'scenarios/faults/gateway.test.ts',
      'because $title pauses the lane and loses nothing; after the correction all is delivered',
    ),
    proof(
      'scenarios/faults/gateway.test.ts',
      'to every record of a lane that delivered: it pauses, keeps all, and goes on by itself',
    ),
    proof(
      'scenarios/faults/gateway.test.ts',
      'to one record alone: it is rejected after the confirmations, and all others are delivered',
    ),
  ],
  'one record fails': [
    proof(
      'delivery/delivery.test.ts',
      'retries a record that fails among successes alone, without holding up the others',
    ),
    proof(
      'delivery/suspects.test.ts',
      'with %s does not stop the others, is rejected after eight more failures, and says why',
    ),
    proof('scenarios/faults/poison.test.ts', 'does not stop those that come after it, and is rejected in the end'),
    proof(
      'scenarios/faults/exit.test.ts',
      'process.exit() delivers all behind a record that always gets $title, mode $mode',
    ),
  ],
  'an answer is lost': [
    proof('scenarios/faults/outcomes.test.ts', '%s: ambiguous, retried and counted'),
    proof('scenarios/faults/outcomes.test.ts', 'keeps the idempotency key of a record through its retries'),
  ],
  'winston holds lines back': [
    proof(
      'scenarios/applications/busy-winston.test.ts',
      'every line that winston holds back for a transport beside ($beside) is delivered once at: $end',
    ),
  ],
  'the disk of the spool is full': [
    proof(
      'scenarios/applications/spool.test.ts',
      'by being full: memory takes over, what memory loses is counted, and delivery goes on',
    ),
    proof('scenarios/applications/spool.test.ts', 'by being read-only: records are delivered from memory, told once'),
    proof('scenarios/applications/spool.test.ts', 'by being taken away: the process goes on, and so does the spool'),
    proof(
      'spool/failing-disk.test.ts',
      'costs only the records that were on disk alone, and the next ones are in another one',
    ),
  ],
  'the worker cannot start': [
    proof(
      'scenarios/applications/worker.test.ts',
      '%s, everything is delivered from the application’s thread, with a report',
    ),
  ],
  'the disk of the spool hangs': [
    proof(
      'scenarios/applications/worker.test.ts',
      'is replaced by one that leaves the spool alone until the disk answers; the process ends nevertheless, and says how',
    ),
  ],
  'the folder of the spool is not yours': [
    proof(
      'spool/spool-folder.test.ts',
      'is refused when it is a symbolic link: one message says what to do, and memory takes over',
    ),
    proof('spool/spool-folder.test.ts', 'is refused when it belongs to another user, and nothing in it is sent'),
  ],
  'the clock jumps': [
    proof('scenarios/applications/clock.test.ts', 'a day $direction makes no wait longer or shorter'),
  ],
  'the configuration is wrong': [
    proof('options/resolve.test.ts', 'in %s is reported with option, variable and value'),
    proof('scenarios/applications/winston.test.ts', 'throws a ConfigError where the transport is made'),
    proof(
      'scenarios/applications/first-mistakes.test.ts',
      'whose user %s gets one line that says so, and ends as it would without Sluice',
    ),
    proof(
      'scenarios/applications/applications.test.ts',
      'turns itself off, and says why, when the configuration is wrong',
    ),
  ],
  'nothing listens': [
    proof(
      'scenarios/applications/applications.test.ts',
      'ends soon where nothing listens, says so at once, and says at the end how much was not delivered',
    ),
    proof('delivery/reach.test.ts', 'is told once, and given up 300 ms after the first brief drain began'),
  ],
}
