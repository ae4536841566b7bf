/** The source of a preview. */
export interface PreviewSource {
  readonly repository: string
  /** Absent: the main branch. */
  readonly branch?: string
  /** The URL of the pull or merge request. */
  readonly sourceUrl?: string
  readonly labels: readonly string[]
  /** The webhook that deploys it, and destroys it when the request is closed. */
  readonly hook?: string
}

const PREFIX = 'dev.platform/'
const REPOSITORY = `${PREFIX}repository`
const BRANCH = `${PREFIX}branch`
const SOURCE_URL = `${PREFIX}source-url`
const HOOK = `${PREFIX}hook`
const LABELS = `${PREFIX}preview-labels`

/** Annotations of its namespace; null removes one that an earlier source has left. */
export const fromPreview = ({
  repository,
  branch,
  sourceUrl,
  labels,
  hook,
}: PreviewSource): Readonly<Record<string, string | null>> => ({
  [REPOSITORY]: repository,
  [BRANCH]: branch ?? null,
  [SOURCE_URL]: sourceUrl ?? null,
  [HOOK]: hook ?? null,
  [LABELS]: labels.length > 0 ? labels.join(',') : null,
})

/** Undefined if there is no repository. */
export function toPreview(annotations: Readonly<Record<string, string>>): PreviewSource | undefined {
  const { [REPOSITORY]: repository, [BRANCH]: branch, [SOURCE_URL]: sourceUrl, [HOOK]: hook } = annotations
  if (!repository) return undefined
  return {
    repository,
    ...(branch && { branch }),
    ...(sourceUrl && { sourceUrl }),
    labels: (annotations[LABELS] ?? '').split(',').filter(one => one !== ''),
    ...(hook && { hook }),
  }
}
