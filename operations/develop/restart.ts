import { DEVELOPMENT_LABEL, MIRROR_LABEL } from '../../constructs/mirror/names.ts'
import { isEnding } from '../objects/removal.ts'
import { upRecordOf } from '../objects/up-record.ts'
import type { Session } from '../session.ts'
import { developedContainer, podSelector } from './find-mirror.ts'
import { runs } from './mirror-pod.ts'
import { restartProgram } from './restart-program.ts'

/**
 * Restarts the programs of the mirrors beside a development container, those of its `services`.
 * Gives their names; undefined if no development container of this name is active, or it has none.
 */
export async function restartServices(session: Session, dev: string): Promise<readonly string[] | undefined> {
  const { cluster, namespace, signal } = session
  const labels = `${MIRROR_LABEL},${DEVELOPMENT_LABEL}=${dev}`
  const mirrors = await cluster.list({ apiVersion: 'apps/v1', kind: 'Deployment', namespace, labels }, { signal })
  const beside = mirrors.filter(one => !isEnding(one) && upRecordOf(one)?.isBeside)
  if (beside.length === 0) return undefined
  for (const mirror of beside) {
    const query = { apiVersion: 'v1', kind: 'Pod', namespace, labels: podSelector(mirror) }
    const container = developedContainer(mirror)
    for (const pod of await cluster.list(query, { signal }))
      if (!isEnding(pod) && runs(pod, container)) await restartProgram(session, pod, container, signal)
  }
  return beside.map(({ metadata }) => metadata.labels?.[MIRROR_LABEL] ?? metadata.name)
}
