import { command } from '../command.ts'
import { flag, type Values } from '../options/option.ts'
import { dryRun, forge, oci, publishing, publishOutput, pullRequest, rollback } from '../options/publish.ts'

const options = {
  ...publishing,
  oci,
  build: flag('--build', 'build and push the images whose content their registries do not have'),
  dryRun,
  verify: flag('--verify', 'fail if the repository differs from what the files render to; change nothing'),
  pullRequest,
  forge,
  rollback,
  output: publishOutput,
}

/** Options of `publish`. */
export type PublishValues = Values<typeof options>

export const publish = command({
  name: 'publish',
  group: 'GitOps',
  summary: 'Commit the manifests of an application to a GitOps repository',
  description: `Compiles the Compose files and commits the differences as one commit, in a temporary copy of the repository and with your git, including its signing, hooks and credentials. If another push comes first, the files are written again on top of it. devctl never force-pushes or merges, and an older source does not overwrite a newer one. If nothing differs, nothing is committed.

Only files that devctl wrote and that have not been changed since are replaced or removed. Secrets with data are never written.

With \`--oci\`, the same folder is pushed to a registry as an artifact that Flux and Argo CD can read, with the login in your Docker configuration. If no file differs, nothing is pushed.`,
  options,
  examples: [
    { line: 'devctl publish --environment staging', does: 'publish to the repository of the environment' },
    {
      line: 'devctl publish --repository git@host:org/deploy.git --path staging/shop --namespace shop',
      does: 'publish without a manifest',
    },
    { line: 'devctl publish --environment production --pull-request', does: 'open a pull request for review' },
    {
      line: 'devctl publish --environment staging --oci registry.example.com/team/shop',
      does: 'push an artifact with the tag `staging`',
    },
    { line: 'devctl publish --environment staging --build', does: 'build missing images, and publish their digests' },
    { line: 'devctl publish --environment staging --dry-run', does: 'print what would change' },
  ],
  async run(context, _words, options) {
    const { publishApplication } = await import('../run/gitops/publish.ts')
    return publishApplication(context, options)
  },
})
