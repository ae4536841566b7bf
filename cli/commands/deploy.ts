import { command } from '../command.ts'
import { bash } from '../options/bash.ts'
import { deploying } from '../options/deploy.ts'
import { choice, flag, list, type Option, type Values } from '../options/option.ts'
import { output } from '../options/output.ts'
import { someServices } from '../options/project.ts'
import { tolerateFailures } from '../options/tolerate-failures.ts'

/** `--no-deps`: the value is false if the option is given. */
const deps: Option<boolean> = {
  flags: '--no-deps',
  description: 'deploy the named services without their dependencies',
}

const options = {
  ...deploying,
  build: flag('--build', 'build and push the images of all services with `build`, also those that the registry has'),
  detach: flag('-d, --detach', 'accepted for scripts: a deploy never stays attached; `--wait` waits for services'),
  deps,
  forceRecreate: flag('--force-recreate', 'replace the Pods of unchanged services, too'),
  scale: list('--scale <service=number>', 'replicas of a service until the next deploy; may be repeated', {
    completes: 'image',
  }),
  wait: flag('--wait', 'wait until all workloads are ready'),
  tolerateFailures,
  dependencies: flag('--dependencies', 'deploy the repositories of `dependencies` even if they are already deployed'),
  createNamespace: flag(
    '--create-namespace',
    'create the namespace if it does not exist (without the option, devctl asks on a terminal)',
  ),
  bash,
  drift: choice(
    '--drift <how>',
    'how to handle values that were changed by hand: `ask` on a terminal and overwrite elsewhere, or always `overwrite`',
    ['ask', 'overwrite'],
    'ask',
  ),
  allWarnings: flag('--all-warnings', 'also print the warnings that the last deploy of the environment has printed'),
  output: output('text', 'json'),
}

/** Options of `deploy`. */
export type DeployValues = Values<typeof options>

export const deploy = command({
  name: 'deploy',
  group: 'Deploy',
  summary: 'Deploy the application to the cluster',
  description: `Runs the commands of the manifest, if there is one, then compiles the Compose files and applies the manifests in the order of \`depends_on\`. Only differences are written. Objects that are no longer in the files are deleted, except claims. Repositories that the manifest depends on are deployed first, unless they are already deployed.

With service names, only these services and their dependencies are deployed. Everything else is left unchanged, nothing is deleted because it is no longer in the files, and the commands of the manifest are not run: their results from the last deploy are used.

Waits for services that others depend on, and with --wait for all services. Fails as soon as waiting cannot help, and reports why a container does not start.

Warnings that the last deploy of the environment has printed are only counted; --all-warnings prints them again.

With --registry-credentials, the Secret \`<environment>-registry\` holds the credentials in the Docker configuration for the registries of the images, and no others. A later deploy without the option deletes it.`,
  words: [someServices],
  options,
  examples: [
    { line: 'devctl deploy web api', does: 'deploy two services and their dependencies' },
    {
      line: 'devctl deploy --wait',
      does: 'deploy the application in this folder to the namespace of the current context, and wait for it',
    },
    { line: 'devctl deploy --namespace shop --domain dev.example.com', does: 'deploy with public routes' },
  ],
  async run(context, services, options) {
    const { deployApplication } = await import('../run/deploy.ts')
    return deployApplication(context, services, options)
  },
})
