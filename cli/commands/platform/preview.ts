import { UsageError } from '../../../compiler/diagnostics/user-error.ts'
import { HOOK_FORGES } from '../../../platform/rules/previews/webhook-signature.ts'
import { dnsLabel } from '../../../project/checks.ts'
import { type Argument, command } from '../../command.ts'
import { aliased, choice, flag, type Option, text, type Values } from '../../options/option.ts'
import { output } from '../../options/output.ts'
import { platformContext as context, waitTimeout as timeout } from '../../options/target.ts'
import { tokenFile } from '../../options/token-file.ts'
import { variables } from '../../options/variable.ts'

const PLATFORM = 'Requires a login to a platform.'
const name: Argument = {
  name: '[name]',
  description: 'name of the preview (default: that of the repository and the branch)',
  completes: 'preview',
}
const branch = text('--branch <branch>', 'branch or tag (default: the current branch)', { completes: 'branch' })
const repository = text(
  '--repository <url>',
  'HTTPS URL of the repository (default: that of the checkout in this folder)',
)
const labels: Option<readonly string[] | undefined> = {
  flags: '--label <label>',
  description: 'label of the preview, for `preview list --label`; may be repeated',
  isRepeatable: true,
  parse: (value, previous) => [...(previous ?? []), value],
}

export const preview = command({
  name: 'preview',
  group: 'Platform',
  summary: 'Deploy branches to previews, each with a namespace of its own',
  description: `A preview is a branch of a repository that a job in the cluster deploys to a namespace of its own. Destroying it deletes the namespace. A preview that nobody uses sleeps, and is destroyed later. ${PLATFORM}`,
  options: {},
  async run() {
    throw new UsageError('`devctl preview` needs a subcommand', {
      hint: 'add `deploy`, `destroy`, `list`, `endpoints`, `hook` or `approve`: `devctl preview deploy --help`',
    })
  },
})

const deployOptions = {
  branch,
  file: text(
    '-f, --file <path>',
    'manifest or Compose file, as a path in the repository (default: as `devctl deploy` finds it)',
    { completes: 'file' },
  ),
  repository,
  scope: choice('--scope <scope>', 'who has access: its owner, or everyone', ['personal', 'global'], 'personal'),
  sourceUrl: aliased(text('--source-url <url>', 'HTTPS URL of the pull or merge request'), '--sourceUrl'),
  comment: flag('--comment', 'with --wait: write the result into one comment on the pull or merge request'),
  label: labels,
  context,
  timeout,
  var: variables,
  wait: flag('--wait', 'follow the log, and wait until it is done'),
}

/** Options of `preview deploy`. */
export type PreviewDeployValues = Values<typeof deployOptions>

export const previewDeploy = command({
  name: 'preview deploy',
  summary: 'Deploy a branch to a preview',
  description: `Creates a preview of a branch, or deploys an existing one again. A job in the cluster clones the repository and runs \`devctl deploy\` in it. Only administrators can deploy global previews. ${PLATFORM}`,
  words: [name],
  options: deployOptions,
  examples: [
    { line: 'devctl preview deploy --wait', does: 'deploy the current branch, as pushed, and show its address' },
    {
      line: 'devctl preview deploy shop-pr-7 --branch feature',
      does: 'deploy the branch of a pull request',
    },
  ],
  async run(context, [name], values) {
    const { deployPreview } = await import('../../run/platform/preview.ts')
    if (name !== undefined) dnsLabel(name, 'name')
    return deployPreview(context, name, values)
  },
})

export const previewDestroy = command({
  name: 'preview destroy',
  summary: 'Destroy a preview',
  description: `Destroys a preview with everything in it, and waits until it is gone. Before that, a job in the cluster runs the \`destroy\` commands of its manifest. Fails if the preview does not exist, unless --ignore-not-found is given. Only administrators can destroy global previews. ${PLATFORM}`,
  words: [name],
  options: {
    branch,
    repository,
    force: flag(
      '--force',
      'do not run the `destroy` commands of the manifest, and remove finalizers of other programs',
    ),
    ignoreNotFound: flag('--ignore-not-found', 'succeed if the preview does not exist, as in a job that may run again'),
    context,
    timeout,
  },
  examples: [{ line: 'devctl preview destroy shop-pr-7', does: 'destroy a preview, and wait until it is gone' }],
  async run(context, [name], values) {
    const { destroyPreview } = await import('../../run/platform/preview.ts')
    if (name !== undefined) dnsLabel(name, 'name')
    return destroyPreview(context, name, values)
  },
})

export const previewList = command({
  name: 'preview list',
  summary: 'List the previews, with their status, scope and public URLs',
  description: `Lists the previews that you may see, with the public URLs of those that you belong to. ${PLATFORM}`,
  options: {
    label: text('--label <label>', 'only those with this label'),
    context,
    output: output('text', 'json', 'yaml', 'name'),
  },
  async run(context, _words, values) {
    const { listPreviews } = await import('../../run/platform/preview.ts')
    return listPreviews(context, values)
  },
})

export const previewEndpoints = command({
  name: 'preview endpoints',
  summary: 'List the public addresses of a preview',
  description: `Lists the public addresses of a preview, the shortest first, with the services behind them. ${PLATFORM}`,
  words: [name],
  options: {
    branch,
    repository,
    context,
    output: output('text', 'json', 'name', 'md'),
  },
  async run(context, [name], values) {
    const { previewEndpoints } = await import('../../run/platform/preview.ts')
    if (name !== undefined) dnsLabel(name, 'name')
    return previewEndpoints(context, name, values)
  },
})

const hookOptions = {
  forge: choice('--forge <kind>', 'with add: kind of the forge, if its host does not show it', HOOK_FORGES),
  forks: choice('--forks <policy>', 'with add: what happens with commits from forks (default: approve)', [
    'never',
    'approve',
    'sandbox',
  ]),
  scope: choice('--scope <scope>', 'with add: who has access, you or everyone (default: personal)', [
    'personal',
    'global',
  ]),
  prefix: text(
    '--prefix <prefix>',
    'with add: prefix of the names of the previews (default: the name of the repository)',
  ),
  file: text('-f, --file <path>', 'with add: manifest or Compose file, as a path in the repository', {
    completes: 'file',
  }),
  tokenFile: { ...tokenFile, description: `with add: ${tokenFile.description}` },
  create: flag('--create', 'with add: also create the webhook in the settings of the repository, with the token'),
  context,
  output: output('text', 'json'),
}

/** Options of `preview hook`. */
export type PreviewHookValues = Values<typeof hookOptions>

export const previewHook = command({
  name: 'preview hook',
  summary: 'Create previews for the pull requests of a repository, with a webhook',
  description: `\`add\` adds a webhook for a repository: each pull or merge request gets a preview, which is destroyed when the request is closed. It asks for a token of the forge on a terminal without showing it, otherwise reads it from standard input, or from --token-file. The token must belong to someone with write access to the repository. Commits from forks wait until someone with write access approves them (\`devctl preview approve\`), unless \`--forks\` says otherwise. Their previews get no variables or credentials, and are destroyed after 24 hours.

\`list\` shows webhooks, their last deliveries and their pull requests, and \`remove\` removes one. ${PLATFORM}`,
  words: [
    { name: '<action>', description: 'what to do', choices: ['add', 'list', 'remove'] },
    {
      name: '[which]',
      description:
        'HTTPS URL of the repository (default: that of the checkout in this folder); for `remove`, also the id or the prefix',
    },
  ],
  options: hookOptions,
  examples: [
    { line: 'devctl preview hook add --create < token.txt', does: 'set up previews for this repository' },
    {
      line: 'devctl preview hook add https://git.example.com/team/shop < token.txt',
      does: 'add a webhook, and print what to enter at the forge',
    },
    { line: 'devctl preview hook list', does: 'show the last deliveries, and which commits are waiting for approval' },
  ],
  async run(context, [action, which], values) {
    const { addHook, listHooks, removeHook } = await import('../../run/platform/preview-hook.ts')
    if (action === 'add') return addHook(context, which, values, values.context)
    return action === 'remove' ? removeHook(context, which, values.context) : listHooks(context, values)
  },
})

export const previewApprove = command({
  name: 'preview approve',
  summary: 'Approve a commit from a fork',
  description: `Confirms that you have reviewed the changes of exactly this commit, which is then deployed. You need write access to the repository, by the token of your webhook or by your own credential for its host (\`devctl credentials set HOST --user\`). Later pushes need a new approval. If the deploy of the commit has failed, the same command runs it again. ${PLATFORM}`,
  words: [{ name: '<name>', description: 'name of the preview', completes: 'preview' }],
  options: {
    commit: text('--commit <sha>', 'full hash of the commit'),
    context,
  },
  examples: [
    {
      line: 'devctl preview approve shop-pr-7 --commit 6dcb09b5b57875f334f61aebed695e2e4193db5e',
      does: 'deploy a commit from a fork',
    },
  ],
  async run(context, [name], values) {
    const { approvePreview } = await import('../../run/platform/preview-hook.ts')
    dnsLabel(name!, 'name')
    return approvePreview(context, name!, values)
  },
})
