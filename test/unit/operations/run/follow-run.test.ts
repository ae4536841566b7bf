import { expect, test } from 'vitest'
import type { Change, Cluster, KubeObject } from '../../../../adapters/kubernetes/cluster.ts'
import { ProgramError } from '../../../../compiler/diagnostics/user-error.ts'
import { followRun } from '../../../../operations/run/follow-run.ts'
import { never } from '../../../support/objects/deploying.ts'

/** Follows a run whose container has these states one after another. */
async function follow(...states: readonly object[]): Promise<number> {
  const pods = states.map(
    (state): KubeObject => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web-run-x', namespace: 'shop' },
      ...{ status: { phase: 'Running', containerStatuses: [{ name: 'web', restartCount: 0, state }] } },
    }),
  )
  const cluster: Pick<Cluster, 'watch'> = {
    async *watch() {
      for (const object of pods) yield { type: 'Changed', object } as Change
    },
  }
  const run = { cluster: cluster as Cluster, namespace: 'shop', job: 'web-run', container: 'web', startTimeout: 1000 }
  return followRun({ ...run, now: () => 0 }, async () => {}, never)
}

const ended = (reason: string, message: string) => ({ terminated: { exitCode: 128, reason, message } })

test.each([
  ['StartError', 'exec: "nothing": executable file not found in $PATH: unknown', 127],
  ['StartError', 'exec: "/nothing": stat /nothing: no such file or directory: unknown', 127],
  ['StartError', 'exec: "/etc/passwd": permission denied: unknown', 126],
  ['StartError', 'exec: "/etc": is a directory: unknown', 126],
  ['ContainerCannotRun', 'executable file `nothing` not found in $PATH: No such file or directory', 127],
  ['RunContainerError', 'exec /run.sh: exec format error', 126],
])('a run that ends with %s because of %s has the exit status of a shell', async (reason, message, exitStatus) => {
  const error = await follow(ended(reason, message)).catch(error => error)
  expect(error).toBeInstanceOf(ProgramError)
  expect(error).toMatchObject({ exitStatus, notes: [message] })
})

test('a container that is not created because its program does not exist ends a run', async () => {
  const message = 'container create failed: executable file `nothing` not found in $PATH: No such file or directory'
  const waiting = { waiting: { reason: 'CreateContainerError', message } }
  await expect(follow(waiting)).rejects.toMatchObject({ exitStatus: 127 })
})

test('a container that cannot start for another reason is no missing program', async () => {
  const message = 'chdir to cwd ("/srv") set in config.json failed: no such file or directory'
  const error = await follow(ended('StartError', message)).catch(error => error)
  expect(error).not.toBeInstanceOf(ProgramError)
  expect(error).toMatchObject({ message: '`web-run` cannot start: its program cannot be executed', notes: [message] })
})

test('a run that has ended has the exit status of its container', async () => {
  expect(await follow({ running: {} }, { terminated: { exitCode: 5, reason: 'Error' } })).toBe(5)
})
