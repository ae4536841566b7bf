import { UsageError } from '../../../compiler/diagnostics/user-error.ts'
import { dnsLabel, environmentName } from '../../../project/checks.ts'
import { command } from '../../command.ts'
import { flag, text, type Values } from '../../options/option.ts'
import { output } from '../../options/output.ts'
import { platformContext, waitTimeout as timeout } from '../../options/target.ts'
import { variables } from '../../options/variable.ts'

const PLATFORM = 'Requires a login to a platform.'
const name = text('--name <name>', 'name of the environment (default: the name of the repository or folder)', {
  check: environmentName,
  completes: 'pipeline',
})
const target = {
  namespace: text(
    '-n, --namespace <namespace>',
    'namespace to use (default: $DEVCTL_NAMESPACE, or that of the context)',
    {
      check: dnsLabel,
      completes: 'namespace',
    },
  ),
  context: platformContext,
}
const wait = flag('--wait', 'follow the log, and wait until it is done')

export const pipeline = command({
  name: 'pipeline',
  group: 'Platform',
  summary: 'Deploy repositories from the cluster',
  description: `A pipeline is an environment that a job in the cluster deploys: it clones the repository and runs \`devctl deploy\` in it. This machine needs nothing but devctl. ${PLATFORM}`,
  options: {},
  async run() {
    throw new UsageError('`devctl pipeline` needs a subcommand', {
      hint: 'add `deploy`, `destroy`, `list` or `logs`: `devctl pipeline deploy --help`',
    })
  },
})

const deployOptions = {
  branch: text('--branch <branch>', 'branch or tag to deploy (default: the main branch of the repository)', {
    completes: 'branch',
  }),
  file: text(
    '-f, --file <path>',
    'manifest or Compose file, as a path in the repository (default: as `devctl deploy` finds it)',
    { completes: 'file' },
  ),
  name,
  ...target,
  repository: text('--repository <url>', 'HTTPS URL of the repository (default: that of the checkout in this folder)'),
  skipIfExists: flag(
    '--skip-if-exists',
    'do nothing if the environment exists and its last deploy did not fail; with --wait, wait if a deploy of it is running',
  ),
  timeout,
  var: variables,
  wait,
}

/** Options of `pipeline deploy`. */
export type PipelineDeployValues = Values<typeof deployOptions>

export const pipelineDeploy = command({
  name: 'pipeline deploy',
  summary: 'Clone a repository in the cluster and deploy it',
  description: `Runs a job in the cluster that clones the repository and runs \`devctl deploy\` in it. A newer request for the same environment replaces a waiting one, and ends a running deploy. ${PLATFORM}`,
  options: deployOptions,
  examples: [
    {
      line: 'devctl pipeline deploy --repository https://git.example.com/team/shop --branch main --wait',
      does: 'deploy a repository without a checkout',
    },
  ],
  async run(context, _words, values) {
    const { deployPipeline } = await import('../../run/platform/pipeline.ts')
    return deployPipeline(context, values)
  },
})

export const pipelineDestroy = command({
  name: 'pipeline destroy',
  summary: 'Destroy an environment from the cluster',
  description: `Runs a job in the cluster that clones the deployed repository and runs \`devctl destroy\` in it. Fails if the environment does not exist, unless --ignore-not-found is given. ${PLATFORM}`,
  options: {
    name,
    ...target,
    timeout,
    ignoreNotFound: flag(
      '--ignore-not-found',
      'succeed if the environment does not exist, as in a job that may run again',
    ),
    volumes: flag('--volumes', 'also delete claims and their data'),
    wait: flag('--wait', 'follow the log, and wait until everything is deleted'),
  },
  examples: [{ line: 'devctl pipeline destroy --name shop --wait', does: 'destroy an environment' }],
  async run(context, _words, values) {
    const { destroyPipeline } = await import('../../run/platform/pipeline.ts')
    return destroyPipeline(context, values)
  },
})

export const pipelineList = command({
  name: 'pipeline list',
  summary: 'List the environments that were deployed from the cluster',
  description: `Lists the last run of each environment of the namespace. ${PLATFORM}`,
  options: {
    ...target,
    output: output('text', 'json', 'yaml', 'name'),
  },
  async run(context, _words, values) {
    const { listPipelines } = await import('../../run/platform/pipeline.ts')
    return listPipelines(context, values)
  },
})

export const pipelineLogs = command({
  name: 'pipeline logs',
  summary: 'Show the log of the last run of an environment',
  description: `Shows the log of the last run of an environment, and follows it while it runs. The exit status is that of the run. ${PLATFORM}`,
  options: { name, ...target, timeout },
  async run(context, _words, values) {
    const { showPipeline } = await import('../../run/platform/pipeline.ts')
    return showPipeline(context, values)
  },
})
