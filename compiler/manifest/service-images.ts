import { type Diagnostic, diagnostic } from '../diagnostics/diagnostic.ts'
import { Reporter } from '../diagnostics/reporter.ts'
import { didYouMean } from '../diagnostics/suggest.ts'
import type { Project } from '../project/project.ts'
import type { Environment } from './manifest.ts'

const unknownService = diagnostic({
  code: 'manifest/unknown-service',
  severity: 'error',
  explain:
    '`images` of an environment gives an image to a service that the Compose files do not have. The name is that of the service under `services`, letter by letter.',
  text: (p: { service: string; hint: string | undefined }) => ({
    message: `there is no service \`${p.service}\` that could have this image`,
    hint: p.hint,
  }),
})

/** The images of an environment that no service of the project can have. */
export function checkServiceImages({ images }: Environment, project: Project): readonly Diagnostic[] {
  const reporter = new Reporter()
  for (const { name, key, span } of images) {
    if (project.services.has(name) || project.absentServices.has(name)) continue
    reporter.report(unknownService, key ?? span, { service: name, hint: didYouMean(name, project.services.keys()) })
  }
  return reporter.diagnostics()
}
