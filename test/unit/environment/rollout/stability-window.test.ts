import { expect, test } from 'vitest'
import { StabilityWindow } from '../../../../environment/rollout/stability-window.ts'
import { object } from '../../../support/objects/deploying.ts'

const NOW = Date.parse('2026-01-01T00:00:00Z')
const at = (seconds: number) => new Date(NOW + seconds * 1000).toISOString()
const pod = (startedAt: string | undefined, { restartCount = 0, isProbed = false } = {}) => ({
  ...object('Pod', 'web-1'),
  spec: { containers: [{ name: 'web', ...(isProbed && { readinessProbe: {} }) }] },
  status: { containerStatuses: [{ name: 'web', restartCount, state: startedAt ? { running: { startedAt } } : {} }] },
})

test('a container without a readiness probe must run for three seconds', () => {
  const settling = new StabilityWindow()
  settling.see(pod(at(0)), NOW, false)
  expect(settling.isSettled(pod(at(0)), NOW + 2900)).toBe(false)
  expect(settling.isSettled(pod(at(0)), NOW + 3000)).toBe(true)
})

test('a container that restarts must run for three seconds again', () => {
  const settling = new StabilityWindow()
  settling.see(pod(at(0)), NOW, false)
  settling.see(pod(at(10), { restartCount: 1 }), NOW + 10_000, false)
  expect(settling.isSettled(pod(at(10), { restartCount: 1 }), NOW + 12_000)).toBe(false)
})

test('an existing container is settled, unless its start is in the future', () => {
  const settling = new StabilityWindow()
  settling.see(pod(at(-60)), NOW, true)
  expect(settling.isSettled(pod(at(-60)), NOW)).toBe(true)
  const ahead = new StabilityWindow()
  ahead.see(pod(at(60)), NOW, true)
  expect(ahead.isSettled(pod(at(60)), NOW + 2000)).toBe(false)
  expect(ahead.isSettled(pod(at(60)), NOW + 3000)).toBe(true)
})

test('a container must run for longer on a node that reports its start late', () => {
  const ready = (seconds: number) => {
    const { status, ...rest } = pod(at(0))
    const conditions = [{ type: 'ContainersReady', status: 'True', lastTransitionTime: at(seconds) }]
    return { ...rest, status: { ...status, conditions } }
  }
  const settledAfter = (seconds: number) => {
    const settling = new StabilityWindow()
    settling.see(ready(seconds), NOW, false)
    const times = Array.from({ length: 50 }, (_, second) => second)
    return times.find(second => settling.isSettled(ready(seconds), NOW + second * 1000))
  }
  expect([0, 1, 3, 100].map(settledAfter)).toEqual([3, 3, 9, 33])
})

test('a container with a readiness probe is settled at once, and one that does not run is not', () => {
  const settling = new StabilityWindow()
  expect(settling.isSettled(pod(at(0), { isProbed: true }), NOW)).toBe(true)
  expect(settling.isSettled(pod(undefined), NOW + 9000)).toBe(false)
})
