import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { watchForInterruption } from '../../../../cli/terminal/interruption.ts'
import { processIo } from '../../../../cli/terminal/process-io.ts'

let terminal: { readonly input: PassThrough; readonly shown: () => string }

beforeEach(() => {
  for (const name of ['CI', 'NO_COLOR', 'FORCE_COLOR', 'CLICOLOR', 'CLICOLOR_FORCE', '_']) vi.stubEnv(name, '')
  vi.stubEnv('TERM', 'xterm')
  const [input, output] = [new PassThrough(), new PassThrough()]
  let shown = ''
  output.on('data', chunk => (shown += chunk))
  const size = { isTTY: true, columns: 0, rows: 0 }
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(Object.assign(input, size) as never)
  for (const name of ['stderr', 'stdout'] as const)
    vi.spyOn(process, name, 'get').mockReturnValue(Object.assign(output, size) as never)
  terminal = { input, shown: () => shown }
})
afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

test.each<readonly [env: Readonly<Record<string, string>>, asks: boolean]>([
  [{}, true],
  [{ NO_COLOR: '1' }, true],
  [{ CLICOLOR: '0' }, true],
  [{ FORCE_COLOR: '0' }, true],
  [{ TERM: 'dumb' }, false],
  [{ CI: 'true' }, false],
  [{ CI: 'true', FORCE_COLOR: '1' }, false],
])('on a terminal with %j, devctl can ask questions: %s', (env, asks) => {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  const { choose, ask, askHidden } = processIo()
  expect([choose, ask, askHidden].map(one => one !== undefined)).toEqual([asks, asks, asks])
})

test('a terminal that reports no columns and no rows has no known size', () => {
  const { stdout, stderr } = processIo()
  for (const output of [stdout, stderr]) expect([output.columns, output.rows]).toEqual([undefined, undefined])
})

describe.each(['ask', 'askHidden'] as const)('%s', kind => {
  const asked = (signal?: AbortSignal) => processIo()[kind]!('Name', signal)
  const isShown = () => vi.waitFor(() => expect(terminal.shown()).toContain('Name'), 10_000)

  test('a typed question returns its answer', async () => {
    const answer = asked(new AbortController().signal)
    await isShown()
    terminal.input.write('shop\r')
    expect(await answer).toBe('shop')
  })

  test.each(['SIGTERM', 'SIGHUP'] as const)('a typed question ends at %s', async name => {
    const watched = watchForInterruption()
    const answer = asked()
    await isShown()
    process.kill(process.pid, name)
    expect(await answer).toBeUndefined()
    expect(watched.signal.aborted).toBe(true)
    watched.stop()
  })

  test('Ctrl-C at a typed question interrupts the command', async () => {
    const watched = watchForInterruption()
    const answer = asked()
    await isShown()
    terminal.input.write('sh\u0003')
    expect(await answer).toBeUndefined()
    expect(watched.signal.aborted).toBe(true)
    watched.stop()
  })

  test('a typed question ends at the deadline of its command', async () => {
    const deadline = new AbortController()
    const answer = asked(deadline.signal)
    await isShown()
    deadline.abort(new Error('too late'))
    await expect(answer).rejects.toThrow('too late')
  })
})
