import type { RunAction, RunState } from '../runs/run-states.ts'

/**
 * Scopes of a preview. `personal`: it belongs to its owner; `global`: all users can view it, and administrators deploy
 * and destroy it.
 */
export const PREVIEW_SCOPES = ['personal', 'global'] as const
export type PreviewScope = (typeof PREVIEW_SCOPES)[number]

/** Statuses of a preview: the status of its namespace or, if the namespace is awake, the result of the last deploy. */
export const PREVIEW_STATUSES = [
  'Active',
  'Deploying',
  'Failed',
  'Sleeping',
  'Waking',
  'Deleting',
  'DeleteFailed',
] as const
export type PreviewStatus = (typeof PREVIEW_STATUSES)[number]

/** Regular expression for the label of a preview. */
export const PREVIEW_LABEL = '^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$'

interface PreviewRun {
  readonly action: RunAction
  readonly state: RunState
}

/** Returns the status of a preview from the status of its namespace and its runs, newest first. */
export function previewStatus(
  namespace: Exclude<PreviewStatus, 'Deploying' | 'Failed'>,
  runs: readonly PreviewRun[],
): PreviewStatus {
  if (namespace !== 'Active') return namespace
  const last = runs.find(tellsStatus)
  if (!last || last.state === 'succeeded') return 'Active'
  return ['queued', 'running', 'stopping'].includes(last.state) ? 'Deploying' : 'Failed'
}

/**
 * True if a run affects the status of its environment, or of its preview: a deploy that no newer run has replaced, or
 * a destroy that has succeeded, after which no earlier deploy counts.
 */
export const tellsStatus = ({ action, state }: PreviewRun): boolean =>
  action === 'deploy' ? state !== 'replaced' : state === 'succeeded'

/** The properties that decide whether a deploy may update an existing preview. */
export interface PreviewIdentity {
  readonly repository: string
  readonly scope: PreviewScope
  /** The id of the user who owns the preview, or wants to deploy it. */
  readonly owner: string
}

/**
 * Returns the property in which a wanted preview conflicts with the existing preview; undefined if the user can deploy
 * to the existing preview. The owner of a global preview does not matter, because any administrator can deploy to it.
 */
export function previewConflict(
  there: PreviewIdentity,
  wanted: PreviewIdentity,
): 'repository' | 'scope' | 'owner' | undefined {
  if (sameRepository(there.repository) !== sameRepository(wanted.repository)) return 'repository'
  if (there.scope !== wanted.scope) return 'scope'
  return there.scope === 'personal' && there.owner !== wanted.owner ? 'owner' : undefined
}

/** The branch of a preview, and the webhook that deploys it. */
interface PreviewBranch {
  /** Name of the branch; absent for the default branch. */
  readonly branch?: string
  readonly hook?: string
}

/**
 * Returns the reason, as a clause, why a deploy of a branch must not replace an existing preview of another branch;
 * undefined if it may. Different branches can have the same derived name (`derived`), so a deploy with this name must
 * not replace the preview. Any branch may be deployed to a name that a user chose, or by the webhook that created the
 * preview, because a webhook derives names from numbers.
 */
export function branchConflict(
  { name, derived }: { readonly name: string; readonly derived: string },
  there: PreviewBranch,
  wanted: PreviewBranch,
): string | undefined {
  const [is, not] = [there.branch ?? 'main', wanted.branch ?? 'main']
  const isChosen = wanted.hook === undefined ? name !== derived : wanted.hook === there.hook
  return is === not || isChosen ? undefined : `is for the branch \`${is}\`, not \`${not}\``
}

/**
 * Removes a trailing slash and `.git` from a repository URL, because the URL means the same repository without them.
 */
const sameRepository = (url: string): string => url.replace(/\/$/, '').replace(/\.git$/, '')

/**
 * Returns the reason why a text is not allowed as the URL of a pull request, which pages show as a link; undefined if
 * it is allowed.
 */
export function sourceUrlProblem(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'https:') return 'it does not begin with `https://`'
  return url.username !== '' || url.password !== '' ? 'it has a user or a password' : undefined
}
