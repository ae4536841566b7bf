import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import { dnsLabel } from '../../operations/project/checks.ts'
import { command } from '../command.ts'
import { choice, flag, type Option, text } from '../options/option.ts'
import { platformContext as context, waitTimeout as timeout } from '../options/target.ts'
import { variables } from '../options/variable.ts'

const PLATFORM = 'Requires a login to a platform.'
const name = { name: '[name]', description: 'name of the preview (default: that of the repository and the branch)' }
const branch = text('--branch <branch>', 'branch or tag (default: the current branch)')
const repository = text(
  '--repository <url>',
  'HTTPS URL of the repository (default: that of the checkout in this folder)',
)
const labels: Option<readonly string[] | undefined> = {
  flags: '--label <label>',
  description: 'a word to find the preview by; may be repeated',
  parse: (value, previous) => [...(previous ?? []), value],
}

export const preview = command({
  name: 'preview',
  summary: 'Deploy branches to previews, each with a namespace of its own',
  description: `A preview is a branch of a repository that a job in the cluster deploys to a namespace of its own. Destroying it deletes the namespace. A preview that nobody uses sleeps, and is destroyed later. ${PLATFORM}`,
  options: {},
  async run() {
    throw new UsageError('`devctl preview` needs a subcommand', {
      hint: 'add `deploy`, `destroy`, `list` or `endpoints`: `devctl preview deploy --help`',
    })
  },
})

export const previewDeploy = command({
  name: 'preview deploy',
  summary: 'Deploy a branch to a preview',
  description: `Creates a preview of a branch, or deploys an existing one again. A job in the cluster clones the repository and runs \`devctl deploy\` on it. Only administrators deploy global previews. ${PLATFORM}`,
  words: [name],
  options: {
    branch,
    file: text(
      '-f, --file <path>',
      'manifest or Compose file, as a path in the repository (default: as `devctl deploy` finds it)',
    ),
    repository,
    scope: choice('--scope <scope>', 'who has access: its owner, or everybody', ['personal', 'global'], 'personal'),
    sourceUrl: text('--sourceUrl <url>', 'HTTPS URL of the pull or merge request'),
    comment: flag('--comment', 'with --wait: write the result into one comment on the pull or merge request'),
    label: labels,
    context,
    timeout,
    var: variables,
    wait: flag('--wait', 'show the log as it comes, and wait until it is done'),
  },
  examples: [
    { line: 'devctl preview deploy --wait', does: 'deploy the current branch as it was pushed, and show its address' },
    {
      line: 'devctl preview deploy shop-pr-7 --branch feature',
      does: 'deploy the branch of a pull request',
    },
  ],
  async run(context, [name], values) {
    const { deployPreview } = await import('../run/preview.ts')
    if (name !== undefined) dnsLabel(name, 'name')
    return deployPreview(context, name, values)
  },
})

export const previewDestroy = command({
  name: 'preview destroy',
  summary: 'Destroy a preview',
  description: `Destroys a preview with all that is in it, and waits until it is gone: a job in the cluster runs the \`destroy\` commands of its manifest first. If it does not exist, nothing is done. Only administrators destroy global previews. ${PLATFORM}`,
  words: [name],
  options: {
    branch,
    repository,
    force: flag('--force', 'do not run the `destroy` commands of the manifest'),
    context,
    timeout,
  },
  examples: [{ line: 'devctl preview destroy shop-pr-7', does: 'destroy a preview, and wait until it is gone' }],
  async run(context, [name], values) {
    const { destroyPreview } = await import('../run/preview.ts')
    if (name !== undefined) dnsLabel(name, 'name')
    return destroyPreview(context, name, values)
  },
})

export const previewList = command({
  name: 'preview list',
  summary: 'List the previews, with their status and scope',
  description: `Lists the previews that you may see. ${PLATFORM}`,
  options: {
    label: text('--label <label>', 'only those with this label'),
    context,
    output: choice('-o, --output <format>', 'output format (default: a table)', ['json', 'yaml']),
  },
  async run(context, _words, values) {
    const { listPreviews } = await import('../run/preview.ts')
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
    output: choice('-o, --output <format>', 'output format (default: text)', ['json']),
  },
  async run(context, [name], values) {
    const { previewEndpoints } = await import('../run/preview.ts')
    if (name !== undefined) dnsLabel(name, 'name')
    return previewEndpoints(context, name, values)
  },
})
