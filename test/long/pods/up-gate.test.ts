import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type KubeconfigAccess, kubeconfigAccess } from '../../../adapters/kubernetes/connection.ts'
import { READY_FILE, RUN_PATH } from '../../../constructs/mirror/names.ts'
import { execTarget, openCommand } from '../../../develop/exec/run-command.ts'
import { Polling } from '../../../develop/session/polling.ts'
import { startPod, TOOLS_CONTAINER, TOOLS_MOUNT } from '../../pods/develop/pod.ts'
import { eventually, findCluster } from '../../support/cluster/cluster.ts'

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

/** Waits until the loop of the gate has slept twice, and lists the file that the command creates. */
const ROUNDS = `
round() { ps -o pid,args | sed -n 's/^ *\\([0-9]*\\) .*[s]leep 0\\.1$/\\1/p' | head -n 1; }
until first=$(round) && [ -n "$first" ]; do sleep 0.05; done
until next=$(round) && [ -n "$next" ] && [ "$next" != "$first" ]; do sleep 0.05; done
ls /tmp/begun 2>&1 || true
`

describe.skipIf(cluster === undefined)('a command in a container that waits for its first files', () => {
  const namespace = `gate-${process.pid}`
  let access: KubeconfigAccess

  beforeAll(async () => {
    await cluster!.createNamespace(namespace)
    await startPod(cluster!, namespace, 'box', {
      initContainers: [TOOLS_CONTAINER],
      // The test can see processes of other containers.
      shareProcessNamespace: true,
      containers: [
        {
          name: 'main',
          image: 'busybox:1.37',
          command: ['sleep', '3600'],
          securityContext: { runAsUser: 1000 },
          volumeMounts: [TOOLS_MOUNT, { name: 'run', mountPath: RUN_PATH }],
        },
      ],
      volumes: [
        { name: 'tools', emptyDir: {} },
        { name: 'run', emptyDir: {} },
      ],
    })
    access = await kubeconfigAccess(undefined, process.env)
  })
  afterAll(async () => {
    await cluster?.deleteNamespace(namespace)
    cluster?.close()
  })

  const inPod = (script: string) =>
    cluster!.kubectl('--namespace', namespace, 'exec', 'box', '--container', 'main', '--', 'sh', '-c', script)

  test.each(['a run', 'echo'])('a command starts when its first files exist (%s)', async name => {
    await inPod(`rm -f ${READY_FILE} /tmp/begun`)
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'box' } }
    const command = {
      namespace,
      container: 'main',
      command: ['sh', '-c', 'echo begun >/tmp/begun; cat /tmp/files'],
      polling: new Polling(join(tmpdir(), 'devctl-none')),
    }
    const run = name === 'echo' ? undefined : 'run-1'
    const target = execTarget(command, pod, { size: undefined, type: undefined }, { run })
    const remote = await openCommand(access, target, AbortSignal.timeout(60_000))
    onTestFinished(() => remote.destroy())
    const [output, errors] = [text(remote.stdout), text(remote.stderr)]
    // The loop has run more than once.
    const listed = await eventually('it waits, and waits again', () => inPod(ROUNDS).catch(() => undefined))
    expect(listed).toContain('No such file')
    await inPod(`echo all of them > /tmp/files; touch ${READY_FILE}`)
    expect(await output).toBe('all of them\n')
    expect(await errors).toBe('')
    expect(await remote.exit).toBe(0)
  })
})
