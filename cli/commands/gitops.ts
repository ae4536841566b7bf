import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import { ociReference } from '../../gitops/publish/oci-reference.ts'
import { dnsLabel, folderPath } from '../../project/checks.ts'
import { command } from '../command.ts'
import { argocdOptions, fluxOptions } from '../options/agent.ts'
import { flag, list, text, type Values } from '../options/option.ts'
import { loading, planning } from '../options/project.ts'
import { forge, publishing, pullRequest } from '../options/publish.ts'
import { target } from '../options/target.ts'

export const gitops = command({
  name: 'gitops',
  group: 'GitOps',
  summary: 'Set up Argo CD or Flux for a GitOps repository',
  description: `Argo CD or Flux, running in the cluster, deploys what \`devctl publish\` commits to a repository. Set it up once with \`devctl gitops init\`. \`devctl gitops secrets\` records where secret values come from.`,
  options: {},
  async run() {
    throw new UsageError('`devctl gitops` needs a subcommand', {
      hint: 'add `init` or `secrets`: `devctl gitops init --help`',
    })
  },
})

const { repository, branch, path, timeout } = publishing
const { name, namespace } = planning

const initOptions = {
  argocd: flag('--argocd', 'use Argo CD'),
  flux: flag('--flux', 'use Flux'),
  all: flag(
    '--all',
    'with `--argocd`: create one ApplicationSet for all folders that `devctl publish` writes, now and later; `--environment` limits it to an environment, `--path` to a folder',
  ),
  ...loading,
  name,
  namespace,
  repository,
  branch,
  path,
  into: text('--into <folder>', 'folder in the repository for the file (default: `argocd` or `flux`)', {
    check: folderPath,
  }),
  oci: text(
    '--oci <reference>',
    'sync the artifact that `devctl publish --oci` pushes to this reference, instead of the folder: `REGISTRY/PATH` or `REGISTRY/PATH:TAG`',
    { check: ociReference },
  ),
  url: text(
    '--url <address>',
    'address from which the cluster reads the repository, or with `--oci` the registry (default: the address that devctl uses)',
  ),
  controllerNamespace: text(
    '--controller-namespace <namespace>',
    "namespace for the controller's objects (default: `argocd` or `flux-system`)",
    { check: dnsLabel, completes: 'namespace' },
  ),
  ...argocdOptions,
  ...fluxOptions,
  pullRequest,
  forge,
  print: flag('--print', 'print the YAML without committing it'),
  dryRun: flag('--dry-run', 'print what would be committed without committing it'),
  timeout,
}

/** Options of `gitops init`. */
export type InitAgentValues = Values<typeof initOptions>

export const gitopsInit = command({
  name: 'gitops init',
  summary: 'Add the objects that make Argo CD or Flux sync an environment',
  description: `Commits one file to the GitOps repository: an Argo CD Application, or a Flux GitRepository and Kustomization, for the folder that \`devctl publish\` writes or the artifact that \`devctl publish --oci\` pushes. Apply the file to the cluster once. After that it is yours: if the file exists, devctl does nothing.`,
  options: initOptions,
  examples: [
    { line: 'devctl gitops init --argocd --environment staging', does: 'commit argocd/shop-staging.yaml' },
    {
      line: 'devctl gitops init --argocd --all --environment staging',
      does: 'commit one ApplicationSet for all applications of staging',
    },
    {
      line: 'devctl gitops init --flux --environment staging --print | kubectl apply -f -',
      does: 'apply the objects to the cluster without committing them',
    },
    {
      line: 'devctl gitops init --flux --environment staging --oci registry.example.com/team/shop --print',
      does: 'print an OCIRepository and a Kustomization for an artifact',
    },
  ],
  async run(context, _words, options) {
    const { initAgent } = await import('../run/gitops/gitops-init.ts')
    return initAgent(context, options)
  },
})

const secretsOptions = {
  ...loading,
  name,
  namespace,
  secret: list('--secret <path=secret/key>', 'take this value from this key of a Secret; may be repeated'),
  public: list('--public <path>', 'treat this value as public; may be repeated'),
  create: flag('--create', 'create the Secrets in the cluster, or add missing keys, without asking'),
  context: target.context,
  dryRun: flag('--dry-run', 'print the manifest with the answers without changing anything'),
  timeout,
}

/** Options of `gitops secrets`. */
export type AnswerSecretsValues = Values<typeof secretsOptions>

export const gitopsSecrets = command({
  name: 'gitops secrets',
  summary: 'Record in devctl.yml where secret values come from',
  description: `Asks about each value that \`devctl publish\` refuses because it is or looks secret, and writes the answer to the environment in devctl.yml: the Secret and key that the value comes from, or that it is public. Comments are preserved. Then offers to create in the cluster the Secrets that no backend publishes: those of \`backend: reference\`, and those that are \`external\` in the Compose files. Existing keys keep their values. Missing keys get their values from the Compose files and their variables, or from a prompt that does not show them. Without a terminal, give the answers as options. The exit status is 1 while answers are missing.`,
  options: secretsOptions,
  examples: [
    { line: 'devctl gitops secrets --environment staging', does: 'answer for each value on a terminal' },
    {
      line: 'devctl gitops secrets --environment staging --secret secrets.token=shop-token/token',
      does: 'answer without a terminal',
    },
    {
      line: 'DB_PASSWORD=… devctl gitops secrets --environment staging --create',
      does: 'create the Secrets with values from variables',
    },
  ],
  async run(context, _words, options) {
    const { answerOpenSecrets } = await import('../run/gitops/gitops-secrets.ts')
    return answerOpenSecrets(context, options)
  },
})
