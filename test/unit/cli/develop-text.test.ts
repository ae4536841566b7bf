import { expect, test } from 'vitest'
import type { Context } from '../../../cli/command.ts'
import { tableOf } from '../../../cli/run/ps.ts'
import { developNote, filesText } from '../../../cli/terminal/develop/event-text.ts'
import { reportsText } from '../../../cli/terminal/develop/status-text.ts'
import { toTerminal } from '../../../cli/terminal/operation-events.ts'
import { NO_PROGRESS } from '../../../cli/terminal/progress/events.ts'
import { eraseRow } from '../../../cli/terminal/progress/screen.ts'
import type { SessionReport } from '../../../develop/control/messages.ts'
import { logText } from '../../../develop/session/event-log.ts'

const BAD = 'a\u001b[31m\u001b[2Jb\rc\nd\u202egpj.exe\u2066\u200b\u0007'
const SHOWN = 'a\\u001b[31m\\u001b[2Jb\\u000dc\\u000ad\\u202egpj.exe\\u2066\\u200b\\u0007'

const problem = { folder: '0', path: BAD, side: 'remote', message: BAD } as const
const conflict = { folder: '0', path: BAD, kept: `/home/${BAD}`, time: 0 }
const sync = {
  state: 'syncing',
  percent: 5,
  files: 1,
  bytes: 1,
  filesLeft: 1,
  bytesLeft: 1,
  sentBytes: 1,
  current: { path: BAD, size: 2, done: 1 },
  problems: [problem],
  conflicts: [conflict],
  unwatched: [BAD],
  leftOut: { count: 22, paths: [{ ...problem, side: 'local' }] },
} as const

test('control characters in names and messages of the container are escaped', () => {
  const report = {
    dev: 'api',
    namespace: 'n',
    context: 'c',
    state: 'syncing',
    text: BAD,
    sync,
    forwards: [{ local: BAD, remote: BAD }],
    emptied: [{ local: BAD, remote: BAD, side: 'local' }],
  } as unknown as SessionReport // the fields that are printed
  const status = reportsText(new Map([['api', report]]), { withInfo: false, left: new Set() })
  const texts = [
    status,
    filesText(sync),
    developNote({ type: 'sync-problem', ...problem })!,
    developNote({ type: 'sync-conflict', ...conflict })!,
    developNote({ type: 'sync-large', path: BAD, size: 1 })!,
    logText({ type: 'sync-problem', ...problem })!,
    logText({ type: 'sync-conflict', ...conflict })!,
    logText({ type: 'note', text: BAD })!,
    logText({ type: 'status', service: 'api', state: 'waiting', text: BAD })!,
  ]
  for (const text of texts) {
    expect(text).toContain(SHOWN)
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u200b\u202e\u2066]/)
  }
  expect(status.trimEnd().split('\n')).toHaveLength(10)
  expect(status).toContain('  … and 21 more\n')
})

test('filesText counts all files at the end, and those that are done before', () => {
  const done = { ...sync, files: 11, filesLeft: 0, bytes: 2048, bytesLeft: 0, sentBytes: 999, current: undefined }
  expect(filesText(done as unknown as typeof sync)).toMatch(/^11 files · 2\S* \w+$/) // the state at the end
  expect(filesText({ ...sync, files: 1, filesLeft: 1 })).toContain('1 of 2 files')
})

test('status names the forwards', () => {
  const forwards = [{ local: 'localhost:3001', remote: '3000' }]
  const report = { dev: 'api', namespace: 'n', context: 'c', state: 'ready', text: '', forwards }
  const all = new Map([['api', report as unknown as SessionReport]]) // the fields that are printed
  expect(reportsText(all, { withInfo: false, left: new Set() })).toContain('  Forward localhost:3001 → 3000\n')
})

const row = {
  service: 'api',
  kind: 'Deployment',
  workload: 'deployment/api-dev',
  state: 'ready',
  ready: 1,
  wanted: 1,
  restarts: 0,
  since: undefined,
  image: `registry.example.com/team/shop/api@sha256:${'0123456789abcdef'.repeat(4)}`,
  addresses: [],
  exposed: [],
  internal: ['api:3000'],
  development: 'ann@laptop',
} as const

test('ps shows the developer of a service, and fits each row into the terminal', () => {
  expect(tableOf([row], 0, undefined)).toContain('api@sha256:0123456789ab  ')
  const lines = tableOf([row], 0, 110).trimEnd().split('\n')
  expect(lines[1]).toMatch(/in development \(devctl up\), ann@laptop$/)
  for (const columns of [110, 60, 20])
    for (const line of tableOf([row], 0, columns).split('\n')) expect(line.length).toBeLessThanOrEqual(columns)
})

test('ps does not show a service without replicas as ready', () => {
  const { development: _nobody, ...own } = { ...row, ready: 0, wanted: 0 }
  expect(tableOf([{ ...own, state: 'stopped' }], 0, undefined)).toMatch(/0\/0 .* stopped: no replicas\n/)
  expect(tableOf([{ ...own, state: 'asleep' }], 0, undefined)).toMatch(/0\/0 .* asleep\n/)
})

test('an empty list of diagnostics does not pause the progress', () => {
  let pauses = 0
  const progress = { ...NO_PROGRESS, pause: () => pauses++ }
  toTerminal({} as Context, progress, 'text')({ type: 'diagnostics', diagnostics: [] }) // nothing of it is used
  expect(pauses).toBe(0)
})

test('eraseRow erases the row on a terminal only', () => {
  const written: string[] = []
  const stderr = (isTTY: boolean) => ({ isTTY, write: (text: string) => void written.push(text) })
  for (const isTTY of [true, false]) eraseRow({ stderr: stderr(isTTY), env: {} })
  expect(written).toEqual(['\r\u001b[2K'])
})
