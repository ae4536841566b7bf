import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { buildDisplay } from '../../../../../cli/terminal/build-progress/display.ts'
import type { Io } from '../../../../../cli/terminal/io.ts'
import type { Progress } from '../../../../../cli/terminal/progress/events.ts'
import { frameOf, type Line, widthOf } from '../../../../../cli/terminal/progress/frame.ts'
import { liveProgress } from '../../../../../cli/terminal/progress/live.ts'
import { inTurn } from '../../../../../cli/terminal/progress/progress.ts'
import { Terminal } from '../../terminal.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

function showing(columns: number, rows: number): { terminal: Terminal; progress: Progress } {
  const terminal = new Terminal(columns, rows)
  const io = {
    stderr: terminal,
    stdout: terminal,
    env: { NO_COLOR: '1' },
    readStdin: async () => new Uint8Array(),
    cwd: '/',
  }
  terminal.write('$ devctl deploy\n')
  return { terminal, progress: liveProgress(io as unknown as Io, () => Date.now() / 1000) } // it needs no more of it
}

const status = (service: string, state: 'waiting' | 'ready' | 'failed', text = `Deployment 0/1 ${state}`) =>
  ({ type: 'status', service, state, text }) as const

const names = Array.from({ length: 40 }, (_, index) => `service-${index}`)

test('the display of forty services does not scroll off a terminal of 24 rows', () => {
  const { terminal, progress } = showing(80, 24)
  for (const name of names) progress.tell(status(name, 'waiting'))
  for (const [index, name] of names.entries()) {
    progress.tell(status(name, index === 7 ? 'failed' : 'ready'))
    vi.advanceTimersByTime(300)
    expect(terminal.scrolled.filter(line => line !== '$ devctl deploy')).toEqual([])
    expect(terminal.screen.length).toBeLessThanOrEqual(24)
  }
  const screen = terminal.screen.join('\n')
  expect(screen).toContain('✘ service-7 ')
  expect(screen).toMatch(/… and 18 more: 18 done/)
  progress.pause()
})

test('finished lines are left out first, then waiting ones', () => {
  const line = (name: string, mark: Line['mark']): Line => ({ name, mark, text: 'text', began: 0 })
  const lines = [
    line('done-1', 'done'),
    line('waits', 'waiting'),
    line('works', 'working'),
    line('failed', 'failed'),
    line('done-2', 'done'),
  ]
  const frame = frameOf(lines, { columns: 80, rows: 4, colour: false, turn: 0 })
  expect(frame).toEqual([' ⠋ works     text', ' ✘ failed    text', '   … and 3 more: 2 done, 1 waiting'])
  expect(frameOf(lines, { columns: 80, rows: 6, colour: false, turn: 0 })).toHaveLength(5)
})

test.each([1, 2, 3, 5, 9, 20, 40, 80])('no frame is larger than %i columns and any number of rows', columns => {
  const texts = ['pod/web-1: Back-off 画像を取得できません 👩‍👩‍👧‍👦'.repeat(3), 'short', 'two\nlines', 'a\u001b[2Jb']
  const lines = names
    .slice(0, 14)
    .flatMap((name, index): readonly Line[] => [
      { name: index % 2 ? name : `サービス-${index}`, mark: 'working', text: texts[index % 4]!, began: 0, ended: 12 },
    ])
  for (const rows of [1, 2, 3, 10, 24]) {
    const frame = frameOf(lines, { columns, rows, colour: true, turn: 1 })
    expect(frame.length).toBeLessThanOrEqual(Math.max(0, rows - 1))
    for (const text of frame) {
      expect(widthOf(text), JSON.stringify(text)).toBeLessThanOrEqual(columns)
      expect(text).not.toContain('\n')
    }
  }
})

test('a terminal that becomes smaller keeps nothing of the former picture', () => {
  const { terminal, progress } = showing(100, 24)
  const long = 'waits for something that has quite a long name, and for others with names that are as long'
  for (const name of names.slice(0, 6)) progress.tell(status(name, 'waiting', long))
  terminal.resize(40, 24)
  vi.advanceTimersByTime(300)
  const shown = terminal.screen.filter(line => line.includes('service-'))
  expect(shown).toHaveLength(6)
  expect(terminal.screen[0]).toBe('$ devctl deploy')
  expect(terminal.screen.filter(line => line !== '')).toHaveLength(7)
  terminal.resize(40, 4)
  vi.advanceTimersByTime(300)
  progress.pause()
})

test('notes stay above the display', () => {
  const { terminal, progress } = showing(80, 24)
  progress.tell(status('web', 'waiting'))
  progress.tell({ type: 'note', text: 'something to know' })
  progress.tell(status('web', 'ready'))
  progress.pause()
  expect(terminal.screen.map(line => line.trimEnd()).filter(line => line !== '')).toEqual([
    '$ devctl deploy',
    ' something to know',
    ' ✔ web       Deployment 0/1 ready',
  ])
})

const shownIn = ({ screen }: Terminal) => screen.map(line => line.trimEnd()).filter(line => line !== '')

test('a question keeps finished lines above it once, and removes running ones', () => {
  const { terminal, progress } = showing(80, 24)
  progress.tell(status('web', 'ready'))
  progress.tell(status('cache', 'waiting'))
  progress.tell({ type: 'waiting', service: 'api', for: ['cache'] })
  progress.makeRoom()
  terminal.write('May it?\n')
  vi.advanceTimersByTime(300)
  expect(shownIn(terminal)).toEqual(['$ devctl deploy', ' ✔ web       Deployment 0/1 ready', 'May it?'])
  progress.tell(status('web', 'ready'))
  progress.tell(status('cache', 'ready'))
  progress.pause()
  expect(shownIn(terminal).slice(3)).toEqual([' ✔ cache     Deployment 0/1 ready'])
})

test('services that change while an image is built are shown after the build', () => {
  const { terminal, progress: steps } = showing(80, 24)
  const io = { stderr: terminal, stdout: terminal, env: { NO_COLOR: '1' } } as unknown as Io // it needs no more of it
  const both = inTurn(
    steps,
    buildDisplay(io, 'auto', () => 0),
    true,
  )
  both.tell(status('web', 'waiting'))
  both.tell({ type: 'build-begun', name: 'api', reference: 'r/api' })
  both.tell(status('web', 'waiting', 'Deployment 0/1, starts'))
  vi.advanceTimersByTime(300)
  expect(shownIn(terminal).join('\n')).not.toContain('web')
  both.tell({ type: 'build-ended', name: 'api', outcome: 'built', seconds: 1 })
  both.tell(status('web', 'ready'))
  both.pause()
  expect(shownIn(terminal).filter(line => /web/.test(line))).toHaveLength(1)
  expect(shownIn(terminal).filter(line => /api/.test(line))).toHaveLength(1)
})

test('a line that works again shows the time of its last work', () => {
  const { terminal, progress } = showing(80, 24)
  const shown = () => shownIn(terminal).at(-1)
  progress.tell(status('Files', 'waiting', 'files'))
  vi.advanceTimersByTime(5000)
  progress.tell(status('Files', 'ready', 'files'))
  expect(shown()).toMatch(/files {2}5(\.0)? s$/)
  vi.advanceTimersByTime(60_000)
  progress.tell(status('Files', 'ready', 'more files'))
  expect(shown()).toMatch(/more files {2}5(\.0)? s$/)
  progress.tell(status('Files', 'waiting', 'files'))
  vi.advanceTimersByTime(2000)
  progress.tell(status('Files', 'ready', 'files'))
  expect(shown()).toMatch(/files {2}2(\.0)? s$/)
  progress.pause()
})
