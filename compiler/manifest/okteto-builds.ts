import { type Diagnostic, diagnostic } from '../diagnostics/diagnostic.ts'
import { Reporter } from '../diagnostics/reporter.ts'
import type { DevctlManifest } from './manifest.ts'

const sameBuild = diagnostic({
  code: 'okteto/build-of-service',
  severity: 'warning',
  explain:
    'An Okteto manifest and a Compose file have a build with one name. Okteto takes them for the same and uses the one of the manifest; devctl uses the one of the service. Commands get the variables `OKTETO_BUILD_<NAME>_…` of that image.',
  text: (p: { name: string }) => ({
    message: `the service \`${p.name}\` has \`build\`, too; its own is used instead of \`build.${p.name}\``,
    hint: 'write the settings of the build at the service, and remove it here',
  }),
})

/**
 * Reports builds of an Okteto manifest that have the same name as a service with its own `build` in a Compose file.
 * `services` contains the names of these services.
 */
export function reportOktetoBuilds(
  { dialect, build }: Pick<DevctlManifest, 'dialect' | 'build'>,
  services: ReadonlySet<string>,
): readonly Diagnostic[] {
  if (dialect !== 'okteto') return []
  const reporter = new Reporter()
  for (const { name, span } of build.values()) if (services.has(name)) reporter.report(sameBuild, span, { name })
  return reporter.diagnostics()
}
