import { type Diagnostic, diagnostic } from '../diagnostics/diagnostic.ts'
import { Reporter } from '../diagnostics/reporter.ts'
import type { DevctlManifest } from './manifest.ts'

const notPublished = diagnostic({
  code: 'manifest/not-published',
  severity: 'warning',
  explain: `\`publish\` commits the objects that the Compose files become. What \`deploy\` does besides has no place in a repository that a controller reads: commands of the manifest are run by nobody there, and dependencies are applications of their own, with folders and a publish of their own.

Let a service that runs once do what the command does (\`restart: "no"\`, which becomes a Job), and publish each dependency from its own repository.`,
  text: ({ what, hint }: { readonly what: string; readonly hint: string }) => ({
    message: `${what} not part of what is published`,
    hint,
  }),
})

/** Reports what the manifest asks of `deploy` and a repository cannot hold. */
export function reportNotPublished({ deploy, dependencies }: DevctlManifest): readonly Diagnostic[] {
  const reporter = new Reporter()
  const [command] = deploy?.commands ?? []
  if (command)
    reporter.report(notPublished, command.span, {
      what: 'the commands of `deploy` are',
      hint: 'let a service with `restart: "no"` do it, which becomes a Job',
    })
  const [dependency] = dependencies
  if (dependency)
    reporter.report(notPublished, dependency.span, {
      what: 'dependencies are',
      hint: 'publish each of them from its own repository',
    })
  return reporter.diagnostics()
}
