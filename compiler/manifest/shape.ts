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
import { dnsName, filled, forward, kubernetesName } from './values-shape.ts'

/** A command as one line of the shell, or with a name for people. */
const oneCommand: Shape = either(
  filled(),
  object(
    {
      name: cli(filled(), 'what progress calls it', 'the command itself'),
      command: cli(filled(), 'what the shell runs'),
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
      services: cli(textOrList(), 'deploy only these services of it, and what they depend on', 'all'),
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
      manifest: cli(either(filled(), list(composeFile), composeFile), 'the same as `file`, of older manifests'),
    },
    required: [],
  },
}

const deploy: Shape = either(
  commands,
  object({
    commands: cli(commands, 'run one after another in the folder of the manifest; variables are the shell’s'),
    compose: cli(composeFiles, 'the Compose files of the application, merged from left to right'),
    endpoints: cli(endpoints, 'public routes as in a Compose file, in place of those there'),
  }),
)

const destroy: Shape = either(
  commands,
  object({ commands: cli(commands, 'run before the objects of the environment are deleted') }),
)

const secretSource: Shape = either(
  filled(),
  object({
    file: cli(filled(), 'the file that holds it'),
    env: cli(filled(), 'the environment variable that holds it'),
  }),
)

const build: Shape = either(
  filled(),
  object({
    context: cli(filled(), 'folder, or address of a repository, that is built', '`.`'),
    dockerfile: cli(filled(), 'Dockerfile, relative to the context', '`Dockerfile`'),
    target: cli(filled(), 'stage of the Dockerfile'),
    image: cli(filled(), 'name that the image is pushed by', 'one in the registry of the environment'),
    args: cli(keyValues(), 'build arguments; `NAME` alone takes the value of the variable'),
    cache_from: cli(textOrList(), 'images to take the cache from'),
    export_cache: cli(filled(), 'image to write the cache to'),
    secrets: cli(record(secretSource, { called: 'ID' }), 'secrets that the build may read'),
    depends_on: cli(textOrList(), 'builds that come before this one'),
  }),
)

const dependency: Shape = either(
  filled(),
  object(
    {
      repository: cli(filled(), 'address of the Git repository'),
      manifest: cli(filled(), 'path of its manifest', 'found as always'),
      branch: cli(filled(), 'branch to deploy', 'the main branch'),
      variables: cli(keyValues(), 'variables that its commands get'),
      timeout: cli(either(filled(), integer()), 'how long it may take, such as `5m`', 'that of the deploy'),
      wait: cli(flag(), 'go on only when it is ready', '`false`'),
    },
    { required: ['repository'] },
  ),
)
const dependencies: Shape = {
  list: list(filled()).list!,
  map: record(cli(dependency, 'address of the repository, or more about it'), { called: 'NAME' }).map!,
}

/** Every key of a manifest: what may be written, and what it means. */
export const manifestShape: Shape = object({
  name: cli(filled(), 'name of the environment', 'that of the Compose file, of the repository, of the folder'),
  namespace: cli(kubernetesName(), 'namespace, where neither an option nor a variable nor the environment names one'),
  context: cli(
    filled(),
    'context of the kubeconfig, where neither an option nor a variable nor the environment names one',
  ),
  domain: cli(dnsName(), 'domain of public routes, where neither an option nor the environment names one'),
  registry: cli(
    filled(),
    'registry of the images of services with `build`, where neither an option nor the environment names one',
  ),
  build: cli(
    record(cli(build, 'the build context, or more about the build'), { called: 'IMAGE' }),
    'images to build, by name',
  ),
  deploy: cli(deploy, 'how to bring the application up: a list of commands, or more'),
  destroy: cli(destroy, 'how to take away what devctl cannot know of: a list of commands, or more'),
  dev: cli(
    record(cli(developmentContainer, 'a development container'), { called: 'CONTAINER' }),
    'development containers, by the name of the service that they stand in for',
  ),
  dependencies: cli(dependencies, 'repositories that are deployed first'),
  forward: cli(
    list(forward('port of the service', 'the service')),
    'ports of services that `up` makes reachable here, as `LOCAL:SERVICE:REMOTE`',
  ),
  environments: cli(
    record(cli(orNull(environment), 'an environment'), {
      called: 'ENVIRONMENT',
      names: /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/,
    }),
    'what is different for `--environment NAME`',
  ),
})
