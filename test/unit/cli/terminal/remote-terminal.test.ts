import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { ClusterError } from '../../../../adapters/kubernetes/cluster.ts'
import type { ExecProcess } from '../../../../adapters/kubernetes/exec.ts'
import { remoteTerminal } from '../../../../cli/terminal/remote-terminal.ts'
import { TerminalModes } from '../../../../cli/terminal/terminal-modes.ts'

const ENV = { TERM: 'xterm-256color' }

describe('the terminal of a command in a container', () => {
  test('a terminal is requested only if input and output are terminals', () => {
    const size = (stdin: boolean, stdout: boolean) => remoteTerminal(streams({ stdin, stdout }), ENV).size
    expect(size(true, true)).toEqual({ columns: 120, rows: 40 })
    expect([size(true, false), size(false, true), size(false, false)]).toEqual([undefined, undefined, undefined])
    expect(remoteTerminal(streams({}), ENV).type).toBe('xterm-256color')
  })

  test('keys, output, sizes and the status are passed on', async () => {
    const local = streams({ stdin: true, stdout: true })
    const remote = fakeProcess()
    const ended = remoteTerminal(local, ENV).attach(remote)
    expect(local.raw).toEqual([true])
    local.stdin.write('ls\r')
    expect(String(await next(remote.stdin))).toBe('ls\r')
    Object.assign(local.stdout, { columns: 90, rows: 20 })
    local.stdout.emit('resize')
    expect(remote.sizes).toEqual(['120x40', '90x20'])
    remote.stdout.write('a b\r\n')
    remote.finish(7)
    expect(await ended).toBe(7)
    expect(String(local.stdout.read())).toBe('a b\r\n')
    expect(local.raw).toEqual([true, false])
    expect(local.stdout.listenerCount('resize')).toBe(0)
    expect(local.stdin.isPaused()).toBe(true)
  })

  test('the terminal reports whether the last line has an end', async () => {
    const local = streams({ stdin: true, stdout: true })
    const remote = fakeProcess()
    const terminal = remoteTerminal(local, ENV)
    const ended = terminal.attach(remote)
    expect(terminal.isLineBegun).toBe(false)
    remote.stdout.write('ready\r\n')
    await new Promise(setImmediate)
    expect(terminal.isLineBegun).toBe(false)
    remote.stdout.write('^C')
    remote.finish(130)
    expect(await ended).toBe(130)
    expect(terminal.isLineBegun).toBe(true)
  })

  test('the input ends, and errors are separate, if there is no terminal', async () => {
    const local = streams({})
    const remote = fakeProcess()
    const ended = remoteTerminal(local, ENV).attach(remote)
    local.stdin.end('all')
    expect(await text(remote.stdin as PassThrough)).toBe('all')
    remote.stdout.write('out')
    remote.stderr.write('err')
    remote.finish(0)
    expect(await ended).toBe(0)
    expect([String(local.stdout.read()), String(local.stderr.read()), local.raw]).toEqual(['out', 'err', []])
  })

  test('the callback runs after the last output of an editor that leaves the full screen', async () => {
    const local = streams({ stdin: true, stdout: true })
    const remote = fakeProcess()
    const seen: string[] = []
    const terminal = remoteTerminal(local, ENV, () => seen.push(String(local.stdout.read())))
    const ended = terminal.attach(remote)
    expect(terminal.isFullScreen).toBe(false)
    remote.stdout.write('\x1b[?1049hvi')
    await new Promise(setImmediate)
    expect([terminal.isFullScreen, seen]).toEqual([true, []])
    remote.stdout.write('bye\x1b[?1049l')
    await new Promise(setImmediate)
    await new Promise(setImmediate)
    expect([terminal.isFullScreen, seen]).toEqual([false, ['\x1b[?1049hvibye\x1b[?1049l']])
    remote.finish(0)
    expect(await ended).toBe(0)
  })

  test('all output is passed on before the end, even to a slow reader', async () => {
    const local = streams({})
    const remote = fakeProcess()
    const ended = remoteTerminal(local, ENV).attach(remote)
    for (let index = 0; index < 100; index++) remote.stdout.write(Buffer.alloc(10_000, index))
    remote.finish(0)
    let length = 0
    local.stdout.on('data', part => {
      length += part.length
    })
    await ended
    expect(length).toBe(1_000_000)
  })

  test('a connection that breaks leaves the terminal as it was', async () => {
    const local = streams({ stdin: true, stdout: true })
    const remote = fakeProcess()
    const ended = remoteTerminal(local, ENV).attach(remote)
    // An editor begins with another screen, no cursor, the mouse, bracketed paste and the keypad.
    remote.stdout.write('\x1b[?1049h\x1b[?25l\x1b[?1000;1006h\x1b[?2004h\x1b=\x1b[31mred')
    await new Promise(resolve => setImmediate(resolve))
    local.stdout.read()
    remote.fail(new ClusterError('unreachable', 'cut'))
    await expect(ended).rejects.toThrow('cut')
    expect(String(local.stdout.read())).toBe('\x1b[?1049l\x1b[?25h\x1b[?1000l\x1b[?1006l\x1b[?2004l\x1b>\x1b[0m')
    expect(local.raw).toEqual([true, false])
  })

  test('keys are ignored on request while nothing is attached, with a line that was begun', async () => {
    const local = streams({ stdin: true, stdout: true })
    const terminal = remoteTerminal(local, ENV)
    const stop = terminal.ignoreKeys()
    local.stdin.write('rm -rf *\n')
    await new Promise(resolve => setImmediate(resolve))
    stop()
    expect(local.stdin.isPaused()).toBe(true)
    local.stdin.write('begun')
    const remote = fakeProcess()
    const ended = terminal.attach(remote)
    // This time is long enough to ignore the line that was begun.
    await new Promise(resolve => setTimeout(resolve, 100))
    local.stdin.write('ls\r')
    expect(String(await next(remote.stdin))).toBe('ls\r')
    remote.finish(0)
    expect(await ended).toBe(0)
  })

  test('input that is not a terminal is never ignored', async () => {
    const local = streams({})
    const terminal = remoteTerminal(local, ENV)
    terminal.ignoreKeys()()
    const remote = fakeProcess()
    const ended = terminal.attach(remote)
    local.stdin.end('all')
    expect(await text(remote.stdin as PassThrough)).toBe('all')
    remote.finish(0)
    await ended
  })

  test('an exit of the process restores the terminal', async () => {
    const before = process.listenerCount('exit')
    const local = streams({ stdin: true, stdout: true })
    const remote = fakeProcess()
    const ended = remoteTerminal(local, ENV).attach(remote)
    const [release] = process.listeners('exit').slice(before)
    ;(release as () => void)()
    expect(local.raw).toEqual([true, false])
    remote.finish(0)
    await ended
    expect(process.listenerCount('exit')).toBe(before)
  })

  test('input that one command has not read is for the next one', async () => {
    const local = streams({ stdin: true, stdout: true })
    const terminal = remoteTerminal(local, ENV)
    const first = fakeProcess()
    const ended = terminal.attach(first)
    first.fail(new ClusterError('unreachable', 'cut'))
    await expect(ended).rejects.toThrow('cut')
    local.stdin.write('typed meanwhile')
    const second = fakeProcess()
    const again = terminal.attach(second)
    expect(String(await next(second.stdin))).toBe('typed meanwhile')
    second.finish(0)
    expect(await again).toBe(0)
  })

  test('an output that is closed ends the command as a signal would', async () => {
    const local = streams({})
    const remote = fakeProcess()
    const ended = remoteTerminal(local, ENV).attach(remote)
    local.stdout.emit('error', Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
    expect(await ended).toBe(141)
    expect(remote.isDestroyed()).toBe(true)
  })
})

describe('TerminalModes', () => {
  test.each([
    ['nothing', 'plain text\r\n', ''],
    ['what was put back', '\x1b[?1049h\x1b[?25l\x1b[?25h\x1b[?1049l', ''],
    ['a style that was ended', '\x1b[1;31mx\x1b[0m\x1b[32my\x1b[m', ''],
    ['no wrapping', '\x1b[?7l', '\x1b[?7h'],
    ['one of two modes', '\x1b[?1002;1006h\x1b[?1002l', '\x1b[?1006l'],
    ['modes of the standard kind', '\x1b[4h', ''],
  ])('reset restores the modes after %s', (_, written, expected) => {
    const whole = new TerminalModes()
    whole.read(Buffer.from(written))
    const bytes = new TerminalModes()
    for (const byte of Buffer.from(written)) bytes.read(Buffer.of(byte))
    const twice = whole.reset()
    expect([twice, bytes.reset(), whole.reset()]).toEqual([expected, expected, ''])
  })
})

function streams({ stdin = false, stdout = false }: { stdin?: boolean; stdout?: boolean }) {
  const raw: boolean[] = []
  const setRawMode = (isRaw: boolean) => raw.push(isRaw)
  return {
    raw,
    stdin: Object.assign(new PassThrough(), { isTTY: stdin, setRawMode }),
    stdout: Object.assign(new PassThrough(), { isTTY: stdout, columns: 120, rows: 40 }),
    stderr: new PassThrough(),
  }
}

function fakeProcess() {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const ends = new EventEmitter()
  const sizes: string[] = []
  let isDestroyed = false
  const exit = new Promise<number>((resolve, reject) => ends.once('status', resolve).once('failure', reject))
  for (const stream of [stdout, stderr]) stream.on('error', () => {})
  return {
    stdin,
    stdout,
    stderr,
    endsInput: true,
    exit,
    sizes,
    isDestroyed: () => isDestroyed,
    resize: (columns: number, rows: number) => void sizes.push(`${columns}x${rows}`),
    destroy: () => {
      isDestroyed = true
    },
    finish(status: number) {
      stdout.end()
      stderr.end()
      ends.emit('status', status)
    },
    fail(error: Error) {
      ends.emit('failure', error)
      stdout.destroy(error)
      stderr.destroy(error)
    },
  } satisfies ExecProcess & Record<string, unknown>
}

const next = (stream: PassThrough) => new Promise(resolve => stream.once('data', resolve))
