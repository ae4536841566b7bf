import { expect, test } from 'vitest'
import { type Json, readWeb } from './read.ts'

const healthOf = (healthcheck: Json) => readWeb({ healthcheck }).web.healthcheck

test.each<[Json, object]>([
  [{ test: ['CMD', 'pg_isready', '-U', 'postgres'] }, { kind: 'exec', command: ['pg_isready', '-U', 'postgres'] }],
  [{ test: ['CMD-SHELL', ''] }, { kind: 'shell', script: '' }],
  [{ test: ['CMD-SHELL', ' '] }, { kind: 'shell', script: ' ' }],
  [{ test: ['CMD-SHELL', 'curl x || exit 1'] }, { kind: 'shell', script: 'curl x || exit 1' }],
  [{ test: ['NONE'] }, { kind: 'none' }],
  [{ test: ['NONE', 'x'] }, { kind: 'none' }],
  [{ disable: true }, { kind: 'none' }],
  [{ disable: true, test: ['CMD', 'x'], http: { path: '/', port: 80 } }, { kind: 'none' }],
  [
    { disable: false, test: ['CMD', 'x'] },
    { kind: 'exec', command: ['x'] },
  ],
  [{ http: { path: '/health', port: 8080 } }, { kind: 'http', path: '/health', port: 8080 }],
  [{ http: { path: '/health', port: '8080' } }, { kind: 'http', path: '/health', port: 8080 }],
  [
    { test: [], http: { path: '/', port: 1 } },
    { kind: 'http', path: '/', port: 1 },
  ],
  [{ interval: '5s' }, { kind: 'image' }],
  [{ test: [] }, { kind: 'image' }],
])('the healthcheck %j is read', (healthcheck, check) => {
  expect(healthOf(healthcheck)?.check).toMatchObject(check)
  expect(readWeb({ healthcheck }).found).toEqual([])
})

test('durations of a healthcheck are read, and zero counts as absent', () => {
  const health = healthOf({
    test: ['CMD', 'x'],
    interval: '1m30s',
    timeout: '1.5s',
    start_period: '168h0m0s',
    start_interval: '0s',
    retries: 3,
  })
  expect(health?.interval?.value.milliseconds).toBe(90_000)
  expect(health?.timeout?.value.milliseconds).toBe(1500)
  expect(health?.startPeriod?.value.milliseconds).toBe(604_800_000)
  expect(health?.startInterval).toBeUndefined()
  expect(health?.retries?.value).toBe(3)
})

test('a healthcheck is a readiness probe and no liveness probe by default', () => {
  const plain = healthOf({ test: ['CMD', 'x'] })
  expect([plain?.readiness.value, plain?.liveness.value]).toEqual([true, false])
  const switched = healthOf({ test: ['CMD', 'x'], 'x-platform-readiness': false, 'x-platform-liveness': 'true' })
  expect([switched?.readiness.value, switched?.liveness.value]).toEqual([false, true])
})

test.each<[Json, string]>([
  [{ test: ['CMD', 'x'], http: { path: '/', port: 80 } }, 'error healthcheck/http-and-test "http"'],
  [{ test: ['CMD'] }, 'error healthcheck/empty-test ["CMD", ]'],
  [{ test: ['CMD-SHELL'] }, 'error healthcheck/empty-test ["CMD-SHELL", ]'],
  [{ test: ['CMD', ''] }, 'error healthcheck/empty-test ["CMD", "", ]'],
  [{ http: { path: 'health', port: 80 } }, 'error healthcheck/http-path "health"'],
  [{ http: { path: '/', port: 70000 } }, 'error ports/out-of-range 70000'],
  [{ http: { path: '/', port: 0 } }, 'error ports/out-of-range 0'],
])('the healthcheck %j is refused', (healthcheck, problem) => {
  expect(readWeb({ healthcheck }).found).toEqual([problem])
})

test('a URL as the path of an HTTP check gets a hint with its path', () => {
  expect(readWeb({ healthcheck: { http: { path: 'http://localhost:80/health', port: 80 } } }).hints).toEqual([
    'write `/health`',
  ])
})

test('items after the CMD-SHELL command are arguments of the shell, as in Compose', () => {
  const { web, found } = readWeb({ healthcheck: { test: ['CMD-SHELL', 'curl', '-f', 'http://localhost'] } })
  expect(web.healthcheck?.check).toMatchObject({ command: ['/bin/sh', '-c', 'curl', '-f', 'http://localhost'] })
  expect(found).toEqual(['warning healthcheck/extra-words ["CMD-SHELL", "curl", "-f", "http://localhost", ]'])
})
