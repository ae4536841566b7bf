import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { runJob } from '../../../../develop/exec/job-program.ts'
import type { Polling } from '../../../../develop/session/polling.ts'
import type { Supervisor } from '../../../../develop/session/supervisor.ts'
import { SUCCESS, startExecServer } from '../../../support/exec-server.ts'

/** Starts a Job that does not end. Returns its commands in the container, and functions to influence it. */
async function startJob(print = '') {
  const commands: string[] = []
  const access = await startExecServer('v5.channel.k8s.io', (socket, { url }) => {
    const command = new URL(url!, 'http://k').searchParams.getAll('command').join(' ')
    commands.push(command)
    if (command.includes('end_older none')) socket.send(SUCCESS)
    else if (print !== '') socket.send(Buffer.from(`\x01${print}`))
  })
  const [interrupted, lines, notes] = [new AbortController(), [] as string[], [] as string[]]
  let [wished, lost] = [new AbortController(), new AbortController()]
  const supervisor = {
    untilReady: async () => ({ pod: { metadata: { name: 'migrate-1' } }, lost: lost.signal }),
  } as unknown as Supervisor
  const polling = { variables: [] as readonly string[] } as Polling
  const program = { access, namespace: 'shop', dev: 'migrate', container: 'main', words: ['./migrate'], polling }
  const restart = () => {
    wished = new AbortController()
    return wished.signal
  }
  const options = { restart, line: (text: string) => lines.push(text), note: (text: string) => notes.push(text) }
  const ended = runJob(program as never, supervisor, options as never, interrupted.signal).catch(
    (error: Error) => error.message,
  )
  const until = (count: number) => expect.poll(() => commands.length, { timeout: 5000 }).toBe(count)
  await until(1)
  await sleep(50)
  const lose = async () => {
    lost.abort(new Error('lost'))
    lost = new AbortController()
    await expect.poll(() => notes.length).toBe(1)
  }
  return { commands, lines, until, lose, ended, interrupted, restart: () => wished.abort(new Error('restart')) }
}

test('a Job that is run again first ends the run whose connection was lost', async () => {
  const job = await startJob()
  await job.lose()
  job.restart()
  await job.until(2)
  expect(job.commands[1]).toMatch(/end_older [0-9a-f]+-2 .*eval .*\.\/migrate/s)
  job.interrupted.abort(new Error('Ctrl-C'))
  expect(await job.ended).toBe('Ctrl-C')
})

test('a Job whose connection was lost ends with its session', async () => {
  const job = await startJob()
  await job.lose()
  job.interrupted.abort(new Error('Ctrl-C'))
  expect(await job.ended).toBe('Ctrl-C')
  expect(job.commands[1]).toContain('end_older none')
})

test('the last line of a Job is shown if its connection was lost within the line', async () => {
  const job = await startJob('one\ntwo')
  await expect.poll(() => job.lines.length).toBe(1)
  await job.lose()
  expect(job.lines).toEqual(['one', 'two'])
  job.interrupted.abort(new Error('Ctrl-C'))
  await job.ended
})
