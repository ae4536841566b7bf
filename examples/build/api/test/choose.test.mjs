import assert from 'node:assert/strict'
import test from 'node:test'
import { choose } from '../src/choose.mjs'

test('every day has a word', () => {
  assert.equal(choose(['a', 'b'], 4), 'a')
  assert.equal(choose(['a', 'b'], 5), 'b')
})
