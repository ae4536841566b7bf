/** The source of a preview. */
export interface PreviewSource {
  readonly repository: string
  /** Branch of the preview; absent for the main branch. */
  readonly branch?: string
  /** The URL of the pull or merge request. */
  readonly sourceUrl?: string
  readonly labels: readonly string[]
  /** Id of the webhook that deploys the preview, and destroys it when the pull request is closed. */
  readonly hook?: string
}

const PREFIX = 'dev.platform/'
const REPOSITORY = `${PREFIX}repository`
const BRANCH = `${PREFIX}branch`
const SOURCE_URL = `${PREFIX}source-url`
const HOOK = `${PREFIX}hook`
const LABELS = `${PREFIX}preview-labels`

/** Returns the annotations of the preview's namespace. Null removes an annotation that an earlier source has left. */
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

/** Parses the annotations of a namespace. Returns undefined if the annotation with the repository is missing. */
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
