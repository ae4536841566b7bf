import { describe, expect, test } from 'vitest'
import { execService } from '../../../../containers/exec/exec-service.ts'
import { events } from '../../../../operations/events/events.ts'
import { forward } from '../../../../operations/forward/forward.ts'
import { deployedImages } from '../../../../operations/list/images.ts'
import { jobs } from '../../../../operations/list/jobs.ts'
import { resourceUsage } from '../../../../operations/list/usage.ts'
import { restart } from '../../../../operations/restart/restart.ts'
import { stop } from '../../../../operations/scale/stop.ts'
import { wait } from '../../../../operations/wait/wait.ts'
import type { OpenProject } from '../../../../project/opened-project.ts'
import { makeFolder } from '../../../support/cli/folder.ts'
import { deploy, newCluster, wanted, workload } from '../../../support/objects/deploying.ts'
import { operationOn } from '../../../support/objects/environment.ts'
import { run } from '../../../support/run.ts'

type World = Awaited<ReturnType<typeof operationOn>>['world']
type Operation = (world: World, input: { readonly name: string }, project: OpenProject) => Promise<unknown>

const nothing = async () => {}
const terminal = { size: undefined, attach: async () => 0 }

const OPERATIONS: Readonly<Record<string, Operation>> = {
  jobs,
  events: (world, input, project) => events({ ...world } as never, input as never, project, nothing as never),
  images: deployedImages,
  top: resourceUsage,
  restart,
  stop,
  wait,
  exec: (world, input, project) =>
    execService({ ...world, terminal }, { ...input, service: 'web', command: ['sh'] }, project),
  forward: (world, input, project) =>
    forward(world, { ...input, service: 'web', ports: [{ local: 0, remote: 80 }] }, project, nothing),
}

describe('an environment that does not exist', () => {
  test.each(Object.entries(OPERATIONS))(
    '%s fails in the same words as all commands that need it',
    async (_, operation) => {
      const cluster = newCluster()
      await deploy(cluster, wanted([], [workload('Deployment', 'web')]))
      const { world, project } = await operationOn(cluster)
      await expect(operation(world, { name: 'shopp' }, project)).rejects.toMatchObject({
        message: 'shopp is not deployed in ns',
        hint: 'did you mean `shop`?',
      })
      await expect(operation(world, { name: 'nothing' }, project)).rejects.toMatchObject({
        message: 'nothing is not deployed in ns',
        hint: '`devctl deploy` deploys it',
      })
    },
  )
})

describe('a name that is not one', () => {
  const COMMANDS = [
    ...['build', 'cp', 'deploy', 'destroy', 'diff', 'endpoints', 'events', 'exec', 'explain', 'forward', 'graph'],
    ...['gitops init', 'gitops secrets', 'history', 'images', 'jobs', 'logs', 'pipeline deploy', 'pipeline destroy'],
    ...['pipeline logs', 'promote', 'ps', 'publish', 'render', 'restart', 'run', 'scale', 'stop', 'top', 'validate'],
    ...['wait'],
  ]

  test.each(COMMANDS)('`devctl %s` refuses it with the message of all other commands', async command => {
    const cwd = makeFolder({})
    for (const name of ['../../x', '-x', '.', 'a b', 'a\u001b[31m', '/etc']) {
      const { status, stderr } = await run([...command.split(' '), `--name=${name}`], { cwd })
      expect([status, stderr.split('\n')[0]], name).toEqual([
        2,
        expect.stringContaining('is not a valid name of an environment'),
      ])
    }
  })

  test('the name of a branch is converted, and not refused', async () => {
    const cwd = makeFolder({ 'compose.yaml': 'services: {web: {image: nginx}}\n' })
    const { stdout } = await run(['render', '--name', 'feature/Log_in'], { cwd })
    expect(stdout).toContain('dev.platform/environment: feature-log-in')
  })
})
