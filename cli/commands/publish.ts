import { command } from '../command.ts'
import { flag } from '../options/option.ts'
import { dryRun, forge, oci, output, publishing, pullRequest, rollback } from '../options/publish.ts'

export const publish = command({
  name: 'publish',
  summary: 'Commit the manifests of an application to a GitOps repository',
  description: `Compiles the Compose files and makes one commit of what differs, in a temporary copy of the repository with your own git: its signing, hooks and credentials count. When another push comes first, everything is written again on top of it; nothing is ever forced or merged, and an older source does not overwrite a newer one. Nothing is committed when nothing differs.

Only files that devctl wrote are replaced or removed, and only while they are as it wrote them. No Secret with data is ever written.

With \`--oci\` the same folder is pushed to a registry, as an artifact that Flux and Argo CD read; the login is that of your Docker configuration. Nothing is pushed when no file differs.`,
  options: {
    ...publishing,
    oci,
    dryRun,
    verify: flag('--verify', 'fail unless the repository holds exactly what these files render to; changes nothing'),
    pullRequest,
    forge,
    rollback,
    output,
  },
  examples: [
    { line: 'devctl publish --environment staging', does: 'to the repository that the environment names' },
    {
      line: 'devctl publish --repository git@host:org/deploy.git --path staging/shop --namespace shop',
      does: 'without a manifest',
    },
    { line: 'devctl publish --environment production --pull-request', does: 'for review' },
    {
      line: 'devctl publish --environment staging --oci registry.example.com/team/shop',
      does: 'as an artifact, to the tag `staging`',
    },
    { line: 'devctl publish --environment staging --dry-run', does: 'what would change' },
  ],
  async run(context, _words, options) {
    const { publishApplication } = await import('../run/publish.ts')
    return publishApplication(context, options)
  },
})
