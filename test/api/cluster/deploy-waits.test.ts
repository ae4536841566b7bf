import { expect, test } from 'vitest'
import { eventually, findCluster } from '../../support/cluster/cluster.ts'
import { Program } from '../../support/cluster/program.ts'
import { type Project, withProject } from '../../support/cluster/project.ts'

const cluster = findCluster()

const COMPOSE = `services:
  big:
    image: busybox:1.37
  task:
    image: busybox:1.37
    restart: on-failure:5
`
const MESSAGE = '0/3 nodes are available: 3 Insufficient memory.'

const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString().replace(/\.\d+/, '')

/** The Pod of a service, once its controller has made it. */
const podOf = ({ kubectl }: Project, service: string) =>
  eventually(`the Pod of ${service} exists`, async () => {
    const list = JSON.parse(await kubectl('get', 'pods', `--selector=dev.platform/service=${service}`, '--output=json'))
    return (list as { items: { metadata: { name: string; uid: string } }[] }).items[0]?.metadata
  })

const setStatus = ({ kubectl }: Project, pod: string, status: object) =>
  kubectl('patch', 'pod', pod, '--subresource=status', '--type=merge', '--patch', JSON.stringify({ status }))

/** Creates the event that an autoscaler writes for a Pod, which is no warning. */
async function tell(project: Project, pod: { name: string; uid: string }, reason: string, message: string) {
  const name = `${pod.name}.${reason.toLowerCase()}`
  project.write(
    `${name}.json`,
    JSON.stringify({
      ...{ apiVersion: 'v1', kind: 'Event', metadata: { name }, type: 'Normal', reason, message, count: 1 },
      involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace: project.name, name: pod.name, uid: pod.uid },
      lastTimestamp: ago(0),
      source: { component: 'cluster-autoscaler' },
    }),
  )
  await project.kubectl('create', '--filename', `${project.directory}/${name}.json`)
}

test.skipIf(cluster === undefined)(
  'deploy waits for a node of an autoscaler and for the attempts of a Job until no node comes',
  () =>
    withProject(cluster!, async project => {
      project.compose(COMPOSE)
      const { name, directory } = project
      const args = ['deploy', '--wait', '--name', name, '--namespace', name, '--timeout', '150s']
      const program = new Program(args, { cwd: directory, env: { DEVCTL_HOME: `${directory}/.home` } }).read()
      const told = (text: string) =>
        eventually(`it says ${text}`, async () => program.stderr.includes(text) || undefined, {
          explain: async () => program.stderr,
        })
      const [big, task] = [await podOf(project, 'big'), await podOf(project, 'task')]
      await tell(project, big, 'TriggeredScaleUp', 'pod triggered scale-up: [{workers 1->2 (max: 5)}]')
      const terminated = { exitCode: 1, reason: 'Error', startedAt: ago(30), finishedAt: ago(29) }
      await setStatus(project, task.name, {
        phase: 'Running',
        containerStatuses: [
          {
            ...{ name: 'task', image: 'busybox:1.37', imageID: '', ready: false, restartCount: 3 },
            state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 40s' } },
            lastState: { terminated },
          },
        ],
      })
      await told('task: it keeps exiting')
      // The Pod has been without a node for longer than a deploy waits for that without an autoscaler.
      const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: MESSAGE }
      await setStatus(project, big.name, { conditions: [{ ...condition, lastTransitionTime: ago(90) }] })
      await told('big: it cannot be scheduled')
      expect(program.stderr).not.toContain('error[')
      await tell(project, big, 'NotTriggerScaleUp', "pod didn't trigger scale-up: 1 max node group size reached")
      await told('error[deploy/unschedulable]: the Pods of `big` cannot be scheduled')
      expect(await program.status).toBe(1)
      expect(program.stderr).toContain("= note: pod didn't trigger scale-up: 1 max node group size reached")
      expect(program.stderr).not.toContain('error[deploy/crash-loop]')
    }),
)
