import { expect, test } from 'vitest'
import { readKeepalive } from '../../../../adapters/buildkit/keepalive.ts'

const keepaliveOf = (time?: string, timeout?: string, permit?: string) =>
  readKeepalive({
    DEVCTL_KEEPALIVE_CLIENT_TIME_MS: time,
    DEVCTL_KEEPALIVE_CLIENT_TIMEOUT_MS: timeout,
    DEVCTL_KEEPALIVE_CLIENT_PERMIT_WITHOUT_STREAM: permit,
  })

const DEFAULT = { timeout: 20_000, permitWithoutStream: false }

test('readKeepalive turns pings off when no variable is set', () => {
  expect(keepaliveOf()).toEqual(DEFAULT)
})

test.each([
  ['30000', 30_000],
  ['10000', 10_000],
  ['9999', 10_000],
  ['1', 10_000],
])('a time of %s is read as %i ms', (text, time) => {
  expect(keepaliveOf(text)).toEqual({ ...DEFAULT, time })
})

test.each(['', '0', '-5', '10s', '1.5', 'infinity', ' 20000', '99999999999999'])('a time of %j is ignored', text => {
  expect(keepaliveOf(text)).toEqual(DEFAULT)
})

test('a timeout is used unchanged, and an invalid one is ignored', () => {
  expect(keepaliveOf('20000', '500', '1')).toEqual({ time: 20_000, timeout: 500, permitWithoutStream: true })
  expect(keepaliveOf(undefined, 'soon')).toEqual(DEFAULT)
})

test.each([
  ['true', true],
  ['T', true],
  ['1', true],
  ['false', false],
  ['yes', false],
  ['tRuE', false],
])('the value %s permits pings without a stream: %s', (text, permitWithoutStream) => {
  expect(keepaliveOf(undefined, undefined, text)).toEqual({ ...DEFAULT, permitWithoutStream })
})
