import { circle } from '../../../diagnostics/circle.ts'
import { diagnostic } from '../../../diagnostics/diagnostic.ts'
import type { Span } from '../../../text/source.ts'
import { type Entry, get, isMap, type MapTree } from '../../../text/tree.ts'
import { scalarText } from '../../../text/tree-text.ts'
import { findCircles } from '../compose-files/find-circles.ts'
import { contextsOfBuild, findContextServices, usedByBuild } from '../context-services.ts'
import {
  type ConsistencyInput,
  checkSources,
  exclusive,
  items,
  reportUndefined,
  scalarAt,
} from './consistency-input.ts'

const notBuilt = diagnostic({
  code: 'build/context-is-not-built',
  severity: 'error',
  explain:
    'An additional context `service:NAME` uses the image that another service builds. That service has no `build`.',
  text: (p: { name: string }) => ({
    message: `service \`${p.name}\` has no \`build\`, so it cannot be a build context`,
  }),
})
const platformMissing = diagnostic({
  code: 'build/platform-missing',
  severity: 'error',
  explain:
    "The image is not built for the platform that the service runs on. Add the service's `platform` to `build.platforms`.",
  text: (p: { platform: string }) => ({
    message: `\`build.platforms\` does not include the service's platform \`${p.platform}\``,
    hint: `add \`${p.platform}\``,
  }),
})
const contextCircle = diagnostic({
  code: 'build/context-circle',
  severity: 'error',
  explain:
    'The images of services are built from each other in a cycle, so none of them can be built first: `additional_contexts` with `service:NAME`, or a Dockerfile that names the `image` of a service with `build` (`FROM`, `COPY --from=`, `RUN --mount=from=`). Remove one of the contexts, or name another image.',
  text: (p: { path: readonly string[] }) => ({
    message: `images are built from each other in a cycle: ${circle(p.path)}`,
  }),
})

/**
 * Checks the builds of the services, the builds of other services whose images these builds use, and cycles among all
 * checked builds.
 */
export function checkBuilds(services: MapTree, input: ConsistencyInput): void {
  const used = input.allServices
    ? findContextServices(input.allServices, services, input.baseImages)
    : new Map<string, Entry>()
  const all = new Map([...services.entries, ...used])
  for (const { value } of all.values()) if (isMap(value)) checkBuild(value, input)
  const usedBy = (name: string) => usedByBuild(name, all, input.baseImages)
  for (const { span, path } of findCircles(all.keys(), usedBy)) input.reporter.report(contextCircle, span, { path })
}

function checkBuild(service: MapTree, input: ConsistencyInput): void {
  const build = get(service, 'build')
  if (!isMap(build)) return
  const { reporter } = input
  if (build.entries.has('dockerfile') && build.entries.has('dockerfile_inline'))
    reporter.report(exclusive, build.entries.get('dockerfile_inline')!.key, {
      one: 'dockerfile',
      other: 'dockerfile_inline',
    })
  for (const { name, span } of contextsOfBuild(build)) checkContext(name, span, input)
  checkSources('build secret', 'secrets', get(build, 'secrets'), input)
  const platform = scalarAt(service, 'platform')
  const platforms = items(get(build, 'platforms'))
  if (platform && platforms.length > 0 && !platforms.some(one => one.kind === 'scalar' && one.value === platform.value))
    reporter.report(platformMissing, platforms[0]!.span, { platform: scalarText(platform) })
}

function checkContext(name: string, span: Span, input: ConsistencyInput): void {
  if (input.isInvalid(`services.${name}`) || input.isInvalidKey(name, 'build')) return
  const service = get(input.allServices, name)
  if (!service) reportUndefined({ kind: 'service', section: 'services', name, span }, input)
  else if (!get(service, 'build')) input.reporter.report(notBuilt, span, { name })
}
