import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { detach } from '../../constructs/mirror/detach.ts'
import { labelValue, MIRROR_LABEL, USER_CONTAINER } from '../../constructs/mirror/names.ts'
import { chosenContainer } from '../../constructs/mirror/pod.ts'
import type { MirrorFacts, MirrorSettings, User } from '../../constructs/mirror/settings.ts'
import { agentWaits, identityOf } from '../../constructs/mirror/user.ts'
import { valueAt } from '../../environment/record/up-record.ts'
import type { Session } from '../../project/session.ts'

/**
 * Returns true if only a container in the Pod can determine the user of the image, and root is refused. The agent then
 * waits for another Pod, which runs as this user.
 */
export function needsUser(settings: MirrorSettings, { user }: MirrorFacts, live: KubeObject | undefined): boolean {
  if (!live || settings.mode === 'hybrid') return false
  const { spec } = detach(live, settings)
  return agentWaits(identityOf(spec, chosenContainer(spec, settings), settings, user))
}

/**
 * Waits until the first Pod of a mirror reports the user of the image in the termination message of an init container,
 * and calls `found` with the user.
 */
export async function watchUser(
  { cluster, namespace, signal }: Session,
  original: string,
  found: (user: User) => Promise<void>,
): Promise<void> {
  const query = { apiVersion: 'v1', kind: 'Pod', namespace, labels: `${MIRROR_LABEL}=${labelValue(original)}` }
  for await (const change of cluster.watch(query, { signal })) {
    const user = 'object' in change ? userOf(change.object) : undefined
    if (user) return found(user)
  }
}

function userOf(pod: KubeObject): User | undefined {
  const statuses = (valueAt(pod, ['status', 'initContainerStatuses']) ?? []) as readonly InitStatus[] // a Pod's status
  const message = statuses.find(({ name }) => name === USER_CONTAINER)?.state?.terminated?.message ?? ''
  const [, uid, gid] = /^(\d+):(\d+)$/.exec(message.trim()) ?? []
  return uid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) }
}

interface InitStatus {
  readonly name: string
  readonly state?: { readonly terminated?: { readonly message?: string } }
}
