import type { ClusterError } from '../../adapters/kubernetes/cluster.ts'

/** Patterns of the messages with which rules of a namespace or cluster reject objects, each with a hint. */
const RULES: readonly (readonly [said: RegExp, hint: string])[] = [
  [
    /exceeded quota/,
    'the ResourceQuota of the namespace is used up: `kubectl describe quota` shows by what; free it, lower `resources`, or have it raised',
  ],
  [/failed quota/, 'a ResourceQuota of the namespace requires what the message names: add it to `resources`'],
  [
    /violates PodSecurity/,
    'the namespace enforces this level of Pod Security: set `securityContext` as the message says, or use another namespace',
  ],
  [
    /(?:maximum|minimum) \S+ (?:usage|limit) per |limit to request ratio per /,
    'a LimitRange of the namespace sets these bounds: `kubectl describe limits` shows them; change `resources`',
  ],
  [/is forbidden: (?!User )/, 'it is a rule of this cluster: fix what it reports, or ask its operators'],
]

/**
 * Returns the hint for a rejection by an admission rule of the cluster; undefined for other rejections, such as missing
 * permissions, which the API server reports with the same status.
 */
export const admissionHint = ({ failure, message }: Pick<ClusterError, 'failure' | 'message'>): string | undefined =>
  failure === 'forbidden' ? RULES.find(([said]) => said.test(message))?.[1] : undefined
