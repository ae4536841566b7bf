import { Reporter } from '../../compiler/diagnostics/reporter.ts'
import { officialName } from '../../compiler/plan/pod/image.ts'
import { isOfficialImage, isPinned } from '../../compiler/values/images/image-reference.ts'
import { NotBuilt } from '../builder/builder.ts'
import type { PlannedBuild } from './planned-build.ts'

/**
 * Throws `NotBuilt`, before the build, for images with names of Docker official images, such as `postgres` or
 * `library/postgres`, because users cannot push to them.
 */
export function refuseOfficialNames(images: readonly PlannedBuild[]): void {
  const reporter = new Reporter()
  for (const { service, reference, tags, span } of images) {
    const image = [reference, ...(isPinned(reference) ? [] : tags)].find(isOfficialImage)
    if (image !== undefined) reporter.report(officialName, span, { service, image, isTag: image !== reference })
  }
  const found = reporter.diagnostics()
  if (found.length > 0) throw new NotBuilt(found.map(one => ({ ...one, severity: 'error' })))
}
