import { type Diagnostic, diagnostic } from '../diagnostics/diagnostic.ts'
import { Reporter } from '../diagnostics/reporter.ts'
import type { DevctlManifest } from './manifest.ts'

const notPublished = diagnostic({
  code: 'manifest/not-published',
  severity: 'warning',
  explain: `\`publish\` commits the objects of the Compose files. It does not cover everything that \`deploy\` does: no GitOps controller runs the commands of the manifest, and dependencies are separate applications with their own folders and their own \`publish\`.

Replace a command with a service that runs once (\`restart: "no"\`, which becomes a Job), and publish each dependency from its own repository.`,
  text: ({ what, hint }: { readonly what: string; readonly hint: string }) => ({
    message: `${what} not published`,
    hint,
  }),
})

/** Reports the parts of a manifest that `deploy` handles and `publish` cannot: commands and dependencies. */
export function reportNotPublished({ deploy, dependencies }: DevctlManifest): readonly Diagnostic[] {
  const reporter = new Reporter()
  const [command] = deploy?.commands ?? []
  if (command)
    reporter.report(notPublished, command.span, {
      what: 'the commands of `deploy` are',
      hint: 'use a service with `restart: "no"` instead, which becomes a Job',
    })
  const [dependency] = dependencies
  if (dependency)
    reporter.report(notPublished, dependency.span, {
      what: 'dependencies are',
      hint: 'publish each of them from its own repository',
    })
  return reporter.diagnostics()
}
