import { command } from '../command.ts'
import { bash } from '../options/bash.ts'
import { deploying } from '../options/deploy.ts'
import { choice, flag } from '../options/option.ts'
import { someServices } from '../options/project.ts'

export const deploy = command({
  name: 'deploy',
  summary: 'Bring the application in the cluster to what the Compose file says',
  description: `Runs the commands of the manifest, if there is one, then compiles the Compose files and applies the manifests: only what differs is written, in the order of \`depends_on\`, and what left the files is deleted. Claims are never deleted. Repositories that the manifest depends on are deployed first, unless they are.

With names of services only these are deployed, with what they depend on. Nothing is deleted because it left the files, everything else stays as it is, and the commands of the manifest are not run: what they handed on at the last deploy counts.

Waits for what other services depend on, and with --wait for all; ends as soon as waiting cannot help, and says why a container does not start.

With --registry-credentials the Secret \`<environment>-registry\` holds what the Docker configuration has for the registries of the images, and for no others. A later deploy without the option takes it away again.`,
  words: [someServices],
  options: {
    ...deploying,
    build: flag('--build', 'build and push the images of all services with `build` (comes with a later version)'),
    wait: flag('--wait', 'wait until every workload is ready'),
    dependencies: flag('--dependencies', 'deploy the repositories of `dependencies` although they are deployed'),
    createNamespace: flag('--create-namespace', 'make the namespace where it is not there (asked for at a terminal)'),
    bash,
    drift: choice(
      '--drift <how>',
      'what becomes of what was changed by hand: ask at a terminal and overwrite elsewhere, or overwrite',
      ['ask', 'overwrite'],
      'ask',
    ),
    output: choice('--output <form>', 'form of what is told', ['text', 'json'], 'text'),
  },
  examples: [
    { line: 'devctl deploy web api', does: 'two services, and what they depend on' },
    { line: 'devctl deploy --wait', does: 'the application of this folder, to the namespace of the current context' },
    { line: 'devctl deploy --namespace shop --domain dev.example.com', does: 'with public routes' },
  ],
  async run(context, services, options) {
    const { deployApplication } = await import('../run/deploy.ts')
    return deployApplication(context, { ...options, services })
  },
})
