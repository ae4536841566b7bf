import { connect } from '../../../adapters/kubernetes/kube-cluster.ts'
import { replaceWorkload } from '../../../develop/mirror/replace-workload.ts'
import { restoreWorkload } from '../../../develop/mirror/restore-workload.ts'
import type { Session } from '../../../project/session.ts'
import { AGENT, settings } from '../../support/mirror/settings.ts'

// A process that takes over a Deployment and restores it, again and again, until it is killed: `taker NAMESPACE NAME`.

const [namespace = '', name = ''] = process.argv.slice(2)
const cluster = await connect({ env: process.env })
const session = {
  cluster,
  namespace,
  signal: new AbortController().signal,
  clock: {
    now: () => Date.now(),
    every(milliseconds: number, run: () => void) {
      const timer = setInterval(run, milliseconds)
      return () => clearInterval(timer)
    },
  },
  holder: { name: `ann@laptop (${process.pid})`, isGone: () => true },
} as unknown as Session // what is not read is not there
process.stdout.write('begins\n')
for (;;) {
  const input = {
    original: { apiVersion: 'apps/v1', kind: 'Deployment', name, namespace },
    settings: settings({ name }),
    agent: AGENT,
    facts: { agentImage: 'node:22-alpine', toolsImage: 'busybox:1.37', runs: 'hold' as const, files: [] },
    session: (existing: unknown) => (existing as object | undefined) ?? {},
    takeOver: false,
    dryRun: false,
  }
  const taken = await replaceWorkload(session, input, () => {})
  if (taken.kind === 'taken') await taken.release()
  await restoreWorkload(session, { name }, { volumes: false }, () => {})
}
