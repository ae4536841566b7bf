/** What a namespace is a preview of. */
export interface PreviewSource {
  readonly repository: string
  /** Absent: the main branch. */
  readonly branch?: string
  /** The page of the pull or merge request. */
  readonly sourceUrl?: string
  readonly labels: readonly string[]
}

const PREFIX = 'dev.platform/'
const REPOSITORY = `${PREFIX}repository`
const BRANCH = `${PREFIX}branch`
const SOURCE_URL = `${PREFIX}source-url`
const LABELS = `${PREFIX}preview-labels`

/** Annotations of its namespace; null for what one that was there before is to lose. */
export const fromPreview = ({
  repository,
  branch,
  sourceUrl,
  labels,
}: PreviewSource): Readonly<Record<string, string | null>> => ({
  [REPOSITORY]: repository,
  [BRANCH]: branch ?? null,
  [SOURCE_URL]: sourceUrl ?? null,
  [LABELS]: labels.length > 0 ? labels.join(',') : null,
})

/** Undefined where no repository is named. */
export function toPreview(annotations: Readonly<Record<string, string>>): PreviewSource | undefined {
  const { [REPOSITORY]: repository, [BRANCH]: branch, [SOURCE_URL]: sourceUrl, [LABELS]: labels = '' } = annotations
  if (!repository) return undefined
  return {
    repository,
    ...(branch && { branch }),
    ...(sourceUrl && { sourceUrl }),
    labels: labels.split(',').filter(one => one !== ''),
  }
}
