import { endpoints } from '../compose/keys/endpoints.ts'
import { cli } from '../schema/row.ts'
import {
  either,
  flag,
  integer,
  keyValues,
  list,
  object,
  orNull,
  record,
  type Shape,
  textOrList,
} from '../schema/shape.ts'
import { developmentContainer } from './dev-shape.ts'
import { environment } from './environment-shape.ts'
import { dnsName, filled, forward, kubernetesName, variableName } from './values-shape.ts'

/** The shape of a command: a line for the shell, or an object with the command and a display name. */
const oneCommand: Shape = either(
  filled(),
  object(
    {
      name: cli(filled(), 'name shown in the progress', 'the command itself'),
      command: cli(filled(), 'shell command'),
    },
    { required: ['command'] },
  ),
)
const commands = list(oneCommand)

const composeFile: Shape = either(
  filled(),
  object(
    {
      file: cli(filled(), 'the Compose file'),
      services: cli(textOrList(), 'deploy only these services of it, and their dependencies', 'all'),
    },
    { required: ['file'] },
  ),
)
const composeFiles: Shape = {
  ...either(filled(), list(composeFile)),
  map: {
    ...composeFile.map!,
    keys: {
      ...composeFile.map!.keys,
      manifest: cli(either(filled(), list(composeFile), composeFile), 'old name of `file`'),
    },
    required: [],
  },
}

const deploy: Shape = either(
  commands,
  object({
    commands: cli(commands, 'shell commands, run in order in the folder of the manifest'),
    compose: cli(composeFiles, 'the Compose files of the application, merged from left to right'),
    endpoints: cli(endpoints, 'public routes as in a Compose file; they replace the routes there'),
  }),
)

const destroy: Shape = either(
  commands,
  object({ commands: cli(commands, 'run before the objects of the environment are deleted') }),
)

const secretSource: Shape = either(
  filled(),
  object({
    file: cli(filled(), 'the file with the secret'),
    env: cli(filled(), 'the environment variable with the secret'),
  }),
)

const build: Shape = either(
  filled(),
  object({
    context: cli(filled(), 'build context: a folder, or the URL of a repository', '`.`'),
    dockerfile: cli(filled(), 'Dockerfile, relative to the context', '`Dockerfile`'),
    target: cli(filled(), 'stage of the Dockerfile'),
    image: cli(filled(), 'name to push the image with', 'a name in the registry of the environment'),
    args: cli(keyValues(), 'build arguments; `NAME` alone takes the value of the variable'),
    cache_from: cli(textOrList(), 'images to take the cache from, or caches as `type=TYPE,KEY=VALUE,…`'),
    export_cache: cli(textOrList(), 'images to write the cache to'),
    secrets: cli(record(secretSource, { called: 'ID' }), 'build secrets'),
    depends_on: cli(
      textOrList(),
      'images to build before this one; their `DEVCTL_BUILD_…` variables are build arguments',
    ),
  }),
)

const dependency: Shape = either(
  filled(),
  object(
    {
      repository: cli(filled(), 'URL of the git repository'),
      manifest: cli(filled(), 'path of its manifest', 'the default names'),
      branch: cli(filled(), 'branch to deploy', 'the default branch'),
      variables: cli(keyValues(), 'variables for its commands'),
      timeout: cli(either(filled(), integer()), 'deadline, such as `5m`', 'the deadline of the deploy'),
      wait: cli(flag(), 'wait until it is ready', '`false`'),
    },
    { required: ['repository'] },
  ),
)
const dependencies: Shape = {
  list: list(filled()).list!,
  map: record(cli(dependency, 'URL of the repository, or a mapping'), { called: 'NAME' }).map!,
}

/** The table of all keys of a manifest: the values they accept and their meaning. */
export const manifestShape: Shape = object({
  name: cli(filled(), 'name of the environment', 'the name of the Compose project, the repository or the folder'),
  namespace: cli(kubernetesName(), 'default namespace, if no option, variable or environment sets one'),
  context: cli(filled(), 'default context of the kubeconfig, if no option, variable or environment sets one'),
  domain: cli(dnsName(), 'default domain of public routes, if no option or environment sets one'),
  registry: cli(filled(), 'default registry for images of services with `build`, if no option or environment sets one'),
  build: cli(record(cli(build, 'the build context, or a mapping'), { called: 'IMAGE' }), 'images to build, by name'),
  deploy: cli(deploy, 'how to deploy the application: a list of commands, or a mapping'),
  destroy: cli(destroy, 'how to remove what devctl does not manage: a list of commands, or a mapping'),
  variables: cli(
    list(variableName(), { unique: true }),
    'variables of the platform that its commands get, besides those that it refers to as `$NAME`',
  ),
  dev: cli(
    record(cli(developmentContainer, 'a development container'), { called: 'CONTAINER' }),
    'development containers, by the name of the service that they replace',
  ),
  dependencies: cli(dependencies, 'repositories to deploy first'),
  forward: cli(
    list(forward('port of the service', 'the service')),
    'service ports that `up` forwards to this machine, as `LOCAL:SERVICE:REMOTE`',
  ),
  environments: cli(
    record(cli(orNull(environment), 'an environment'), {
      called: 'ENVIRONMENT',
      names: /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/,
    }),
    'settings for `--environment NAME`',
  ),
})
