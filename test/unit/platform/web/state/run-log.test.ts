import { describe, expect, test } from 'vitest'
import type { Run } from '../../../../../platform/api/runs.ts'
import { KeptLog, phasesOf, readRunLine } from '../../../../../platform/web/state/run-log.ts'
import { commandLine } from '../../../../../platform/web/state/shell-words.ts'

const line = (text: string, step: 'clone' | 'run' = 'run') => ({
  type: 'line' as const,
  number: 7,
  step,
  time: '2026-01-01T00:00:00Z',
  text,
})
const read = (said: object) => {
  const { number: _, time: __, ...rest } = readRunLine(line(JSON.stringify(said)))
  return rest
}

describe('a line of a run', () => {
  test.each([
    [
      { time: 0.6, type: 'status', service: 'db', state: 'ready', text: 'StatefulSet 1/1 ready' },
      { step: 'deploy', type: 'status', about: 'db', tone: 'good', text: 'StatefulSet 1/1 ready' },
    ],
    [
      { type: 'step', step: 'Planned', text: '18 unchanged' },
      { step: 'deploy', type: 'step', about: 'Planned', text: '18 unchanged' },
    ],
    [
      { type: 'waiting', service: 'web', for: ['api', 'db', 7] },
      { step: 'deploy', type: 'waiting', about: 'web', text: 'waits for api, db' },
    ],
    [
      {
        type: 'diagnostic',
        severity: 'error',
        code: 'deploy/crash-loop',
        message: '`api` exited',
        file: 'compose.yaml',
        range: { start: { line: 18, column: 3 } },
        notes: ['exit code 1'],
        hint: 'look at the log',
      },
      {
        step: 'deploy',
        type: 'diagnostic',
        tone: 'bad',
        text: 'error[deploy/crash-loop]: `api` exited\n  --> compose.yaml:18:3\n  = note: exit code 1\n  = help: look at the log',
        problem: {
          severity: 'error',
          code: 'deploy/crash-loop',
          message: '`api` exited',
          place: 'compose.yaml:18:3',
          notes: ['exit code 1'],
          help: 'look at the log',
        },
      },
    ],
    [
      { type: 'build-ended', name: 'web', outcome: 'built', digest: 'sha256:ab', seconds: 1.72 },
      { step: 'build', type: 'build-ended', about: 'web', tone: 'good', text: 'built · sha256:ab · 1.7 s' },
    ],
    [
      {
        type: 'result',
        environment: 'shop',
        namespace: 'ann',
        services: { web: 'ready', db: 'ready' },
        endpoints: ['https://web.example.com'],
      },
      {
        step: 'deploy',
        type: 'result',
        tone: 'good',
        text: 'shop is deployed to ann: 2 of 2 ready',
        endpoints: ['https://web.example.com'],
      },
    ],
  ])('readRunLine reads %j', (said, expected) => {
    expect(read(said)).toEqual(expected)
  })

  test.each([
    ['npm warn something'],
    ['{"type":"constructor"}'],
    ['{"type":"__proto__","text":"x"}'],
    ['{"type":7}'],
    ['{"type":'],
    ['{}'],
    ['null'],
  ])('any other line stays as it is: %s', text => {
    expect(readRunLine(line(text))).toMatchObject({ step: 'deploy', text })
  })

  test.each([
    ['status', 'step', 'object', 'note', 'waiting', 'output', 'diagnostic', 'result'],
    ['build-begun', 'build-step', 'build-log', 'build-warning', 'build-retry', 'build-ended'],
  ])('a line that lacks all its fields is read nevertheless: %s …', (...types) => {
    for (const type of types) {
      const found = readRunLine(line(JSON.stringify({ type, text: { a: 1 }, service: 7, services: 'x', for: 'y' })))
      expect(typeof found.text).toBe('string')
    }
  })

  test('a line of the clone belongs to the clone, whatever it contains', () => {
    expect(readRunLine(line('{"type":"note","text":"x"}', 'clone'))).toMatchObject({ step: 'clone' })
    expect(readRunLine(line('error: there is no branch', 'clone'))).toMatchObject({ tone: 'bad' })
  })
})

describe('phasesOf', () => {
  const run = (more: Partial<Run>): Run => ({
    id: '0'.repeat(26),
    namespace: 'ann',
    environment: 'shop',
    action: 'deploy',
    state: 'running',
    user: { id: 'u', login: 'ann' },
    created: '2026-01-01T00:00:00Z',
    started: '2026-01-01T00:00:02Z',
    ...more,
  })
  const at = (second: number) => `2026-01-01T00:00:${String(second).padStart(2, '0')}.5Z`
  const states = (one: Run, first: object = {}, last: object = first) =>
    phasesOf(one, { first, last })
      .map(({ name, state }) => `${name} ${state}`)
      .join(', ')

  test('a run begins with the queue and the clone', () => {
    const { started: _, ...queued } = run({ state: 'queued' })
    expect(states(queued)).toBe('queue active, clone waiting, build waiting, deploy waiting, ready waiting')
    expect(states(run({}))).toBe('queue done, clone active, build waiting, deploy waiting, ready waiting')
  })
  test.each<[Run['state'], string]>([
    ['failed', 'failed'],
    ['refused', 'failed'],
    ['cancelled', 'stopped'],
    ['replaced', 'stopped'],
  ])('the phase in which a run is %s is %s', (state, expected) => {
    const { started: _, ...queued } = run({ state })
    expect(states(queued)).toBe(`queue ${expected}, clone waiting, build waiting, deploy waiting, ready waiting`)
    expect(states(run({ state }), { clone: at(3), build: at(4) })).toBe(
      `queue done, clone done, build ${expected}, deploy waiting, ready waiting`,
    )
  })
  test('a run without a clone skips it', () => {
    expect(states(run({}), { deploy: at(3) })).toBe(
      'queue done, clone skipped, build skipped, deploy active, ready waiting',
    )
    expect(states(run({}), { build: at(3) })).toMatch(/clone skipped, build active, deploy waiting/)
    expect(states(run({ action: 'destroy', state: 'failed' }), { deploy: at(3) })).toBe(
      'queue done, clone skipped, deploy failed',
    )
  })
  test('a run ends with the deploy and its readiness', () => {
    const seen = { clone: at(3), deploy: at(5) }
    expect(states(run({}), seen)).toBe('queue done, clone done, build skipped, deploy active, ready waiting')
    expect(states(run({ state: 'succeeded' }), seen)).toBe(
      'queue done, clone done, build skipped, deploy done, ready done',
    )
    expect(states(run({ state: 'failed' }), seen)).toBe(
      'queue done, clone done, build skipped, deploy failed, ready waiting',
    )
    expect(states(run({ state: 'failed' }), { clone: at(3) })).toMatch(/clone failed, build waiting/)
  })
  test('a build continues until a later phase has a line', () => {
    const first = { clone: at(3), deploy: at(4), build: at(5) }
    expect(states(run({}), first)).toMatch(/build active, deploy waiting/)
    expect(states(run({}), first, { ...first, deploy: at(9) })).toMatch(/build done, deploy active/)
  })
  test('a destroy has no phases for a build or readiness', () => {
    expect(states(run({ action: 'destroy' }))).toBe('queue done, clone active, deploy waiting')
  })
  test('each phase has the time that it took', () => {
    const [queue, clone] = phasesOf(run({ state: 'succeeded' }), { first: { clone: at(3) }, last: { clone: at(6) } })
    expect([queue?.took, clone?.took]).toEqual([2000, 4500])
  })
  test.each([
    ['after the build', { clone: at(3), build: at(7), deploy: at(8) }],
    ['before the build, with a note', { clone: at(3), build: at(7), deploy: at(6) }],
  ])('a deploy that begins %s does not have the time of the build', (_, first) => {
    const last = { clone: at(5), build: at(8), deploy: at(9) }
    const phases = phasesOf(run({ state: 'succeeded' }), { first, last })
    expect(phases.map(({ took }) => took)).toEqual([2000, 3500, 1000, 1000, undefined])
  })
})

test.each([
  [['devctl', 'deploy', '--branch', 'feature/login'], 'devctl deploy --branch feature/login'],
  [['devctl', undefined, '--branch', 'a b;$(id)'], "devctl --branch 'a b;$(id)'"],
  [['it', "o'clock"], "it 'o'\\''clock'"],
  [['x', ''], "x ''"],
])('words of a command are quoted for a shell: %j', (words, expected) => {
  expect(commandLine(...words)).toBe(expected)
})

describe('KeptLog', () => {
  const line = (number: number, step: 'clone' | 'run', text = 'x') =>
    ({ type: 'line', number, step, time: `2026-01-01T00:00:${String(number % 60).padStart(2, '0')}Z`, text }) as const

  test('a repeated line is kept once', () => {
    const log = new KeptLog()
    for (const number of [1, 2, 2, 1, 3]) log.add(line(number, 'run'))
    expect(log.steps.deploy.map(one => one.number)).toEqual([1, 2, 3])
    expect(log.left).toBe(0)
  })

  test('the first errors are kept, however many lines follow, but no warnings', () => {
    const log = new KeptLog({ lines: 100, letters: 1_000_000 })
    const told = (number: number, severity: string) =>
      log.add(line(number, 'run', JSON.stringify({ type: 'diagnostic', severity, message: `m${number}` })))
    told(1, 'warning')
    for (let number = 2; number <= 20; number++) told(number, 'error')
    for (let number = 21; number <= 400; number++) log.add(line(number, 'run'))
    expect(log.errors.map(({ number }) => number)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    expect(log.errors[0]?.problem).toEqual({ severity: 'error', message: 'm2', notes: [] })
  })

  test.each([
    ['lines', { lines: 100, letters: 1_000_000 }, 'x'],
    ['letters', { lines: 1_000_000, letters: 10_000 }, 'x'.repeat(100)],
  ])('the number of %s is limited; the newest lines stay, and when each part began', (_, most, text) => {
    const log = new KeptLog(most)
    log.add(line(1, 'clone', 'cloned'))
    for (let number = 2; number <= 1000; number++) log.add(line(number, 'run', text))
    const kept = log.steps.deploy
    expect(kept.length).toBeGreaterThanOrEqual(49)
    expect(kept.length).toBeLessThanOrEqual(100)
    expect(kept.at(-1)?.number).toBe(1000)
    expect(kept.map(one => one.number)).toEqual(kept.map((_, index) => 1001 - kept.length + index))
    expect(log.left + kept.length).toBe(999)
    expect(log.steps.clone).toHaveLength(1)
    expect(log.seen.first).toEqual({ clone: line(1, 'clone').time, deploy: line(2, 'run').time })
    expect(log.seen.last['deploy']).toBe(line(1000, 'run').time)
  })
})
