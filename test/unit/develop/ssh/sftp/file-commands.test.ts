import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import type { ExecProcess } from '../../../../../adapters/kubernetes/exec.ts'
import type { FrontContainer } from '../../../../../develop/ssh/container.ts'
import { FileCommands } from '../../../../../develop/ssh/sftp/file-commands.ts'

/** Returns a shell that answers every command with its number and success, and a function that ends it. */
function fakeShell(number: number) {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  let fail: (error: Error) => void = () => {}
  const exit = new Promise<number>((_, reject) => {
    fail = reject
  })
  exit.catch(() => {})
  stdin.setEncoding('utf8').on('data', (text: string) => {
    const mark = /printf '%s %s\\n' (\w+)/.exec(text)?.[1]
    if (text.includes('hang')) stdout.write('half')
    else stdout.write(`shell ${number}\n${mark} 0\n`)
  })
  const shell = { stdin, stdout, stderr, exit, destroy: () => {} } as unknown as ExecProcess
  return { shell, end: () => fail(new Error('connection lost')) }
}

/** Returns file commands with the shells that they have started; the first `failures` starts fail. */
function commandsWith(failures = 0) {
  const shells: ReturnType<typeof fakeShell>[] = []
  let starts = 0
  const run = async () => {
    if (++starts <= failures) throw new Error('cannot be started')
    shells.push(fakeShell(starts))
    return shells.at(-1)!.shell
  }
  const container = { tool: '/busybox', run } as unknown as FrontContainer
  return { shells, commands: new FileCommands(container, new AbortController().signal) }
}

test('FileCommands runs all commands in one shell', async () => {
  const { commands, shells } = commandsWith()
  expect([await commands.run('ls'), await commands.run('ls')]).toEqual(['shell 1\n', 'shell 1\n'])
  expect(shells).toHaveLength(1)
})

test('FileCommands starts another shell after the container was restarted', async () => {
  const { commands, shells } = commandsWith()
  expect(await commands.run('ls')).toBe('shell 1\n')
  shells[0]!.end()
  await Promise.resolve()
  expect(await commands.run('ls')).toBe('shell 2\n')
})

test('FileCommands rejects the command whose shell ends, and no later one', async () => {
  const { commands, shells } = commandsWith()
  await commands.run('ls')
  const broken = commands.run('hang')
  setTimeout(() => shells[0]!.end(), 20)
  await expect(broken).rejects.toThrow('connection lost')
  expect(await commands.run('ls')).toBe('shell 2\n')
})

test('FileCommands tries again to start a shell that could not be started', async () => {
  const { commands } = commandsWith(1)
  await expect(commands.run('ls')).rejects.toThrow('cannot be started')
  expect(await commands.run('ls')).toBe('shell 2\n')
})
