import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import { dnsLabel, folderPath } from '../../operations/project/checks.ts'
import { ociReference } from '../../operations/publish/oci-reference.ts'
import { command } from '../command.ts'
import { argocdOptions, fluxOptions } from '../options/agent.ts'
import { flag, list, text } from '../options/option.ts'
import { loading, planning } from '../options/project.ts'
import { forge, publishing, pullRequest } from '../options/publish.ts'
import { target } from '../options/target.ts'

export const gitops = command({
  name: 'gitops',
  summary: 'Set up what syncs a GitOps repository to a cluster',
  description: `What \`devctl publish\` commits to a repository gets to the cluster by a controller there, Argo CD or Flux, that has to be told of it once: \`devctl gitops init\`. \`devctl gitops secrets\` answers what of it is secret.`,
  options: {},
  async run() {
    throw new UsageError('`devctl gitops` does nothing by itself', {
      hint: 'add `init` or `secrets`: `devctl gitops init --help`',
    })
  },
})

const { repository, branch, path, timeout } = publishing
const { name, namespace } = planning

export const gitopsInit = command({
  name: 'gitops init',
  summary: 'Add the object by which Argo CD or Flux syncs an environment',
  description: `Commits one file to the GitOps repository: an Application of Argo CD, or a GitRepository and a Kustomization of Flux, for the folder that \`devctl publish\` writes, or for the artifact that \`devctl publish --oci\` pushes. Apply it to the cluster once. From then on the file is yours: devctl never changes it, and does nothing when it is there.`,
  options: {
    argocd: flag('--argocd', 'for Argo CD'),
    flux: flag('--flux', 'for Flux'),
    all: flag(
      '--all',
      'with `--argocd`: one ApplicationSet for every folder that `devctl publish` writes, now and later; with `--environment` for those of the environment, with `--path` for those in that folder',
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
      'follow the artifact that `devctl publish --oci` pushes there, in place of the folder: `REGISTRY/PATH` or `REGISTRY/PATH:TAG`',
      { check: ociReference },
    ),
    url: text(
      '--url <address>',
      'address by which the cluster reads the repository, or with `--oci` the registry (default: the same)',
    ),
    controllerNamespace: text(
      '--controller-namespace <namespace>',
      "namespace of the controller's objects (default: `argocd` or `flux-system`)",
      { check: dnsLabel },
    ),
    ...argocdOptions,
    ...fluxOptions,
    pullRequest,
    forge,
    print: flag('--print', 'print the YAML, and commit nothing'),
    dryRun: flag('--dry-run', 'tell what would be committed, and change nothing'),
    timeout,
  },
  examples: [
    { line: 'devctl gitops init --argocd --environment staging', does: 'commit argocd/shop-staging.yaml' },
    {
      line: 'devctl gitops init --argocd --all --environment staging',
      does: 'one ApplicationSet for all applications of staging',
    },
    {
      line: 'devctl gitops init --flux --environment staging --print | kubectl apply -f -',
      does: 'straight to the cluster',
    },
    {
      line: 'devctl gitops init --flux --environment staging --oci registry.example.com/team/shop --print',
      does: 'an OCIRepository and a Kustomization, for an artifact',
    },
  ],
  async run(context, _words, options) {
    const { initAgent } = await import('../run/gitops-init.ts')
    return initAgent(context, options)
  },
})

export const gitopsSecrets = command({
  name: 'gitops secrets',
  summary: 'Answer what is secret, and write it into devctl.yml',
  description: `Walks through what \`devctl publish\` refuses because it is secret, or looks it, and writes the answers into the environment in devctl.yml: the Secret and the key that a value comes from, or that it is public. Comments stay. Then it offers to create in the cluster what no backend publishes: the Secrets of \`backend: reference\`, and those that the Compose files call \`external\`. A key that is there keeps its value; one that is not gets that of the Compose files and their variables, or is typed, without being shown. Where nobody sits at a terminal, options answer; the exit status is 1 while something is left.`,
  options: {
    ...loading,
    name,
    namespace,
    secret: list('--secret <path=secret/key>', 'this value comes from that key of that Secret; may be repeated'),
    public: list('--public <path>', 'this value is not secret; may be repeated'),
    create: flag('--create', 'create the Secrets in the cluster, or add the keys that they lack, without asking'),
    context: target.context,
    dryRun: flag('--dry-run', 'print the manifest with the answers, and change nothing'),
    timeout,
  },
  examples: [
    { line: 'devctl gitops secrets --environment staging', does: 'ask for each value' },
    {
      line: 'devctl gitops secrets --environment staging --secret secrets.token=shop-token/token',
      does: 'without a terminal',
    },
    {
      line: 'DB_PASSWORD=… devctl gitops secrets --environment staging --create',
      does: 'create the Secrets with the values of variables',
    },
  ],
  async run(context, _words, options) {
    const { answerOpenSecrets } = await import('../run/gitops-secrets.ts')
    return answerOpenSecrets(context, options)
  },
})
