import type { Project } from '../../compiler/compose/project.ts'
import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import type { BuildRequest } from '../build/builder.ts'

/**
 * The images that have to be made before a deploy: of services whose `build` was found to have no
 * registry (`image/no-registry`), and with `all` of every service with a `build` whose image is not
 * `given`.
 */
export function buildRequests(
  project: Project,
  diagnostics: readonly Diagnostic[],
  given: ReadonlySet<string>,
  all: boolean,
): readonly BuildRequest[] {
  const places = diagnostics.flatMap(({ code, span }) => (code === 'image/no-registry' && span ? span : []))
  return [...project.services.values()].flatMap(({ name, build }) => {
    if (!build) return []
    const { span } = build
    const isNowhere = places.some(({ file, start }) => file === span.file && start === span.start)
    return isNowhere || (all && !given.has(name)) ? [{ service: name, build }] : []
  })
}
