import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { BuildProgress } from '../../../../../builds/progress.ts'
import { buildFrame } from '../../../../../cli/terminal/build-progress/frame.ts'
import type { Io, Output } from '../../../../../cli/terminal/io.ts'
import { widthOf } from '../../../../../cli/terminal/progress/frame.ts'
import { startProgress } from '../../../../../cli/terminal/progress/progress.ts'
import { redacting } from '../../../../../cli/terminal/redacting.ts'
import { Terminal } from '../../terminal.ts'
import { type Recorded, recorded } from './recorded.ts'

const RECORDINGS = ['multi-stage', 'cached', 'failing', 'two-at-once'] as const

beforeEach(() => {
  vi.useFakeTimers({ now: 0 })
})
afterEach(() => {
  vi.useRealTimers()
})

const expected = (name: string) => join(import.meta.dirname, 'expected', name)

interface Shown {
  readonly stdout: string
  readonly stderr: string
}

/** Shows events at their times; `at` is called after each. */
async function show(
  events: readonly Recorded[],
  form: 'auto' | 'tty' | 'plain' | 'json',
  options: {
    readonly terminal?: Terminal
    readonly secrets?: readonly string[]
    readonly names?: readonly string[]
    readonly at?: (time: number) => void
  } = {},
): Promise<Shown> {
  const written = { stdout: '', stderr: '' }
  const output = (stream: keyof typeof written): Output => ({
    write: text => {
      written[stream] += text
    },
    isTTY: false,
  })
  const stderr = options.terminal ?? output('stderr')
  const io = {
    stdout: output('stdout'),
    stderr,
    env: { NO_COLOR: '1' },
    cwd: '/',
    readStdin: async () => new Uint8Array(),
  }
  const own = redacting(io as unknown as Io) // nothing else of it is used
  own.secrets.add(options.secrets ?? [])
  own.secrets.addNames(options.names ?? [])
  const progress = await startProgress(own, 'warn', 'text', () => Date.now(), form)
  for (const { time, event } of events) {
    vi.advanceTimersByTime(Math.max(0, Math.round(time * 1000) - Date.now()))
    progress.tell(event)
    options.at?.(time)
  }
  progress.pause()
  return written
}

for (const name of RECORDINGS) {
  test(`the recording ${name} is shown in plain lines`, async () => {
    const { stdout, stderr } = await show(recorded(name), 'auto')
    expect(stdout).toBe('')
    await expect(stderr).toMatchFileSnapshot(expected(`${name}.plain.txt`))
  })

  test(`the recording ${name} is shown as JSON`, async () => {
    const { stdout, stderr } = await show(recorded(name), 'json')
    expect(stdout).toBe('')
    for (const line of stderr.trim().split('\n'))
      expect(JSON.parse(line)).toMatchObject({ type: expect.stringMatching(/^build-/) })
    await expect(stderr).toMatchFileSnapshot(expected(`${name}.jsonl`))
  })

  for (const [columns, rows] of [
    [80, 24],
    [40, 10],
  ] as const)
    test(`the recording ${name} is shown on a terminal of ${columns}×${rows}`, async () => {
      const terminal = new Terminal(columns, rows)
      const frames: string[] = []
      let next = 0
      const at = (time: number) => {
        expect(terminal.scrolled).toEqual([])
        if (time < next) return
        next = time + 0.3
        frames.push(`--- ${time} s`, ...terminal.screen)
      }
      await show(recorded(name), 'auto', { terminal, at })
      const all = [...frames, '--- end', ...terminal.scrolled, ...terminal.screen]
      await expect(all.map(line => line.trimEnd()).join('\n')).toMatchFileSnapshot(
        expected(`${name}.${columns}x${rows}.txt`),
      )
    })
}

test.each([1, 2, 3, 5, 9, 20, 40, 80])('no frame is larger than %i columns and any number of rows', columns => {
  const progress = new BuildProgress(text => text)
  for (const name of ['web', 'サービス', 'c'])
    for (const { event } of recorded('two-at-once')) progress.take({ ...event, name: `${name}-${event.name}` }, 1)
  const all = progress.builds.map((build, index) => (index % 2 ? build : { ...build, state: 'building' as const }))
  for (const rows of [1, 2, 3, 6, 10, 24])
    for (const isShort of [false, true]) {
      const frame = buildFrame(all, { columns, rows, colour: true, turn: 1, now: 5, isShort })
      expect(frame.length).toBeLessThanOrEqual(Math.max(0, rows - 1))
      for (const text of frame) expect(widthOf(text), JSON.stringify(text)).toBeLessThanOrEqual(columns)
    }
})

test('ended steps go first if there are too few rows, then logs, and running steps stay', () => {
  const progress = new BuildProgress(text => text)
  const events = recorded('two-at-once')
  for (const { event, time } of events) if (time < 1) progress.take(event, time)
  const frame = (rows: number) => buildFrame(progress.builds, { columns: 60, rows, colour: false, turn: 0, now: 1 })
  const running = progress.builds.flatMap(({ steps }) => steps.filter(({ state }) => state === 'running'))
  const atLeast = 1 + progress.builds.length + running.length
  for (const { name } of running) expect(frame(atLeast).join('\n')).toContain(name.slice(0, 12))
  expect(frame(atLeast).join('\n')).not.toContain('✔')
  // A build whose steps have no room has the running one in its own row.
  expect(frame(3).join('\n')).toContain('web       5/9 steps, [build 4/6] RUN')
  expect(frame(2)).toEqual([expect.stringMatching(/… and 2 more/)])
})

test('a secret is masked in names and logs, even if it comes in pieces', async () => {
  const step = { digest: 'sha256:1', name: '[2/2] RUN login --password opensesame', started: { seconds: 1 } }
  const log = (msg: Buffer) => ({
    type: 'build-status' as const,
    name: 'web',
    status: { logs: [{ vertex: 'sha256:1', timestamp: { seconds: 1 }, msg }] },
  })
  const events = [
    { type: 'build-begun', name: 'web', reference: 'r/web:1' },
    { type: 'build-status', name: 'web', status: { vertexes: [step] } },
    log(Buffer.from('token open')),
    log(Buffer.from('sesame is 画像 ok\n').subarray(0, 11)),
    log(Buffer.from('sesame is 画像 ok\n').subarray(11)),
    {
      type: 'build-status',
      name: 'web',
      status: { vertexes: [{ ...step, completed: { seconds: 2 }, error: 'opensesame: exit code: 1' }] },
    },
    { type: 'build-ended', name: 'web', outcome: 'failed', seconds: 1 },
  ] as const
  for (const form of ['plain', 'tty', 'json'] as const) {
    const terminal = new Terminal(200, 24)
    const { stdout, stderr } = await show(
      events.map((event, index) => ({ time: index * 0.2, event })),
      form,
      {
        ...(form === 'tty' && { terminal }),
        secrets: ['opensesame'],
        at: () => expect(terminal.screen.join()).not.toContain('open'),
      },
    )
    const all = [stdout, stderr, ...terminal.screen].join('\n')
    expect(all).not.toMatch(/open|sesame/)
    // The terminal of the tests keeps a blank beside a wide character.
    expect(all.replaceAll(' ', '')).toContain('token***is画像ok')
    expect(all).toContain('RUN login --password ***')
  }
})

test('a build that is tried again does not repeat the steps that have ended', async () => {
  const done = (digest: string, name: string) => ({ digest, name, started: { seconds: 1 }, completed: { seconds: 2 } })
  const steps = [done('sha256:1', '[1/2] RUN npm ci'), done('sha256:2', '[2/2] COPY . .')]
  const push = { digest: 'sha256:3', name: 'exporting to image', started: { seconds: 2 } }
  const attempt = { type: 'build-status', name: 'web', status: { vertexes: [...steps, push] } } as const
  const retry = { type: 'build-retry', name: 'web', reason: 'the registry answers 503', of: 3 } as const
  const log = { vertex: 'sha256:3', timestamp: { seconds: 3 }, msg: Buffer.from('error: 503, retrying in 4s\n') }
  const events = [
    { type: 'build-begun', name: 'web', reference: 'r/web:1' },
    attempt,
    { ...retry, attempt: 2 },
    attempt,
    { type: 'build-status', name: 'web', status: { logs: [log] } },
    { type: 'build-status', name: 'web', status: { vertexes: [{ ...push, completed: { seconds: 4 }, error: '503' }] } },
    { type: 'build-ended', name: 'web', outcome: 'failed', seconds: 4 },
  ] as const
  const { stderr } = await show(
    events.map((event, index) => ({ time: index, event })),
    'plain',
  )
  expect(stderr.match(/RUN npm ci/g)).toHaveLength(1)
  expect(stderr.match(/COPY/g)).toHaveLength(1)
  expect(stderr).toContain('#6 ERROR: 503')
  // Log lines about the builder's own attempts are not shown again at the end.
  expect(stderr).not.toContain('last')
})

test('an interrupted build leaves a cross, and no running row', async () => {
  const terminal = new Terminal(80, 24)
  const events = [
    { type: 'build-begun', name: 'web', reference: 'r/web:1' },
    { type: 'build-ended', name: 'api', outcome: 'present', seconds: 0 },
    { type: 'build-ended', name: 'web', outcome: 'cancelled', seconds: 1 },
  ] as const
  await show(
    events.map((event, index) => ({ time: index, event })),
    'tty',
    { terminal },
  )
  const rows = terminal.screen.map(row => row.trim()).filter(row => row !== '')
  // The rows are in the order of their names.
  expect(rows).toEqual([expect.stringMatching(/^✔ api/), expect.stringMatching(/^✘ web +cancelled/)])
})

test('a build that is tried again shows the reason, and its steps get new numbers', async () => {
  const step = { digest: 'sha256:1', name: '[2/2] RUN npm ci', started: { seconds: 1 } }
  const events = [
    { type: 'build-begun', name: 'web', reference: 'r/web:1' },
    { type: 'build-status', name: 'web', status: { vertexes: [step] } },
    { type: 'build-retry', name: 'web', reason: 'the connection was lost', attempt: 2, of: 3 },
    { type: 'build-status', name: 'web', status: { vertexes: [{ ...step, cached: true, completed: { seconds: 1 } }] } },
    { type: 'build-ended', name: 'web', outcome: 'built', digest: `sha256:${'a'.repeat(64)}`, seconds: 1 },
    { type: 'build-ended', name: 'api', outcome: 'present', seconds: 0 },
    { type: 'build-ended', name: 'site', outcome: 'present', moved: ['r/site:1', 'r/site:latest'], seconds: 0 },
    { type: 'build-ended', name: 'worker', outcome: 'skipped', seconds: 0 },
  ] as const
  const { stderr } = await show(
    events.map((event, index) => ({ time: index, event })),
    'plain',
  )
  expect(stderr.split('\n')).toEqual([
    'web: building r/web:1',
    '#1 [web 2/2] RUN npm ci',
    'web: attempt 2 of 3: the connection was lost',
    '#2 [web 2/2] RUN npm ci',
    '#2 CACHED',
    'web: built r/web:1 sha256:aaaaaaaaaaaa… in 1.0 s',
    'api: is in the registry already',
    'site: is in the registry already, and now also r/site:1, r/site:latest',
    'worker: not built, because a build that it needs failed',
    '',
  ])
})

test('a secret that is also a name is masked in logs as a value, and stays readable in names', async () => {
  const step = { digest: 'sha256:1', name: '[storefront-1 2/2] RUN make storefront-1', started: { seconds: 1 } }
  const msg = Buffer.from('password=storefront-1 from https://storefront-1-web\n')
  const events = [
    { type: 'build-begun', name: 'storefront-1', reference: 'r/storefront-1:1' },
    { type: 'build-status', name: 'storefront-1', status: { vertexes: [step] } },
    {
      type: 'build-status',
      name: 'storefront-1',
      status: { logs: [{ vertex: 'sha256:1', timestamp: { seconds: 1 }, msg }] },
    },
    { type: 'build-ended', name: 'storefront-1', outcome: 'built', seconds: 1 },
  ] as const
  for (const form of ['plain', 'json'] as const) {
    const recorded = events.map((event, index) => ({ time: index, event }))
    const options = { secrets: ['storefront-1'], names: ['storefront-1'] }
    const { stdout, stderr } = await show(recorded, form, options)
    const all = stdout + stderr
    expect(all).toContain('password=*** from https://storefront-1-web')
    expect(all).toContain('RUN make storefront-1')
    expect(all.match(/\*\*\*/g)).toHaveLength(1)
  }
})
