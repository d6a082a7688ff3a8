// Tests of the records that an application logs and tracks: `node --test examples/testing/sign-up.test.js`. Nothing leaves the process, and
// nothing need be configured.
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { captureSluice } from 'sluice/testing'
import { signedUp, signUp } from './sign-up.js'

const captured = captureSluice()
beforeEach(() => captured.clear())
after(() => captured.restore())

const events = () => captured.values.map(({ eventId }) => eventId)
const lines = () => captured.logs.map(({ level, message }) => `${level}: ${message}`)

test('a new user is counted, and named in the log', () => {
  assert.equal(signUp('ann'), true)
  assert.deepEqual(events(), [signedUp])
  assert.deepEqual(lines(), ['info: signed up {"name":"ann"}'])
})

test('a user without a name is not counted, and the log says why', () => {
  assert.equal(signUp(''), false)
  assert.deepEqual(events(), [])
  assert.deepEqual(lines(), ['warn: sign-up without a name'])
})
