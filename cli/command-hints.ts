/** Options of other builders, and the devctl alternative for each. */
export const BUILDX_OPTION_HINTS: Readonly<Record<string, string>> = {
  '--add-host': 'list hosts under `extra_hosts` of `build`',
  '--allow': 'list entitlements under `entitlements` of `build`',
  '--annotation': 'labels are under `labels` of `build`',
  '--attest': '`provenance` and `sbom` of `build` set attestations',
  '--build-context': 'list contexts under `additional_contexts` of `build`',
  '--builder': '`BUILDKIT_HOST` names the builder',
  '--cache-to': '`--export-cache IMAGE` exports the cache; `cache_to` of `build` takes other types',
  '--check': '`--push=false` only checks that the images can be built',
  '--iidfile': '`--metadata-file PATH` writes the images with their digests',
  '--label': 'list labels under `labels` of `build`',
  '--load': 'images are pushed to a registry; a Docker Engine also keeps those that it builds',
  '--network': 'set `network` of `build`',
  '--no-cache-filter': 'list stages under `no_cache_filter` of `build`',
  '--print': '`devctl config` prints the Compose file as devctl reads it',
  '--provenance': 'set `provenance` of `build`',
  '--sbom': 'set `sbom` of `build`',
  '--set': '`--build-arg`, `--target` and `--platform` change all builds of a command',
  '--shm-size': 'set `shm_size` of `build`',
  '--ssh': 'list keys under `ssh` of `build`',
  '--ulimit': 'set `ulimits` of `build`',
}

/**
 * Returns the hint for an option that other builders have and `devctl build` does not; undefined for an unknown option.
 */
export const insteadOfOption = (option: string): string | undefined =>
  Object.hasOwn(BUILDX_OPTION_HINTS, option) ? BUILDX_OPTION_HINTS[option] : undefined

const NO_PORTS = 'a run has no ports; `devctl forward SERVICE 8080:80` forwards a local port to a service'
const RUN_FOLDER = 'change the folder in the command: `devctl run SERVICE -- sh -c "cd FOLDER && COMMAND"`'

/** Hint for `devctl run -v FROM:TO`, whose `-v` would be `--verbose`. */
export const NO_VOLUMES =
  'a run has the volumes of its service: add it to `volumes`, and deploy it; `devctl cp LOCAL SERVICE:PATH` copies files into a container'

/** Options of other tools, by command, and the devctl alternative for each. */
export const OPTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  deploy: {
    '--abort-on-container-exit': '`devctl wait` ends when services fail or Jobs complete',
    '--always-recreate-deps': '`--force-recreate` replaces the Pods of dependencies, too',
    '--attach': '`devctl logs SERVICE` shows the output',
    '--exit-code-from': '`devctl run SERVICE` ends with the exit status of the service',
    '--cleanup': '`devctl destroy` deletes the application',
    '--default-repo': '`--registry HOST/PATH` sets the registry of the images that are built',
    '--dry-run': '`devctl diff` shows what a deploy would change',
    '--force': '`--force-conflicts` takes over fields of other tools; `devctl restart` replaces Pods',
    '--menu': '`devctl up` and `devctl logs` show what services do',
    '--no-build': '`--image SERVICE=REFERENCE` uses an image that exists',
    '--no-log-prefix': '`devctl logs SERVICE` shows the output',
    '--no-recreate': '`devctl deploy` keeps the Pods of services that have not changed',
    '--no-start': '`--scale SERVICE=0` creates a service without Pods',
    '--no-wait': '`devctl deploy` does not wait until services are ready unless `--wait` is given',
    '--port-forward': '`devctl forward SERVICE 8080:80` forwards a local port to a service',
    '--prune': '`devctl deploy` deletes what is no longer in the files',
    '--pull': '`pull_policy: always` of a service pulls its image whenever a Pod starts',
    '--quiet-pull': 'the nodes of the cluster pull the images, and print nothing here',
    '--remove-orphans': '`devctl deploy` deletes what is no longer in the files',
    '--renew-anon-volumes':
      '`devctl destroy --volumes SERVICE` deletes the volumes, and the next deploy creates new ones',
    '--tail': '`devctl logs --follow` shows the output',
    '--wait-timeout': '`--timeout DURATION` sets how long the command may take',
    '--watch': '`devctl up SERVICE` develops a service, and applies `develop.watch`',
    '-V': '`devctl destroy --volumes SERVICE` deletes the volumes, and the next deploy creates new ones',
    '-t': '`stop_grace_period` in the Compose file sets how long a service may take to stop',
    '-w': '`--wait` waits until all workloads are ready',
  },
  destroy: {
    '--dry-run': '`devctl ps` lists the services that a destroy deletes',
    '--force': '`--yes` asks no questions',
    '--remove-orphans': '`devctl destroy` deletes all objects of the environment',
    '-t': '`stop_grace_period` in the Compose file sets how long a service may take to stop',
  },
  diff: { '--dry-run': '`devctl diff` changes nothing in a cluster' },
  down: {
    '--remove-orphans': '`devctl down` ends a development container; `devctl destroy` deletes the application',
    '--rmi': '`devctl down` ends a development container; images stay in the registry',
    '-t': '`--timeout DURATION` sets how long the command may take',
  },
  events: {
    '--json': '`--output json` prints JSON',
  },
  exec: {
    '--env': 'write the variables in the command: `devctl exec --service SERVICE -- env NAME=value COMMAND`',
    '--user': 'the command runs as the user of the container',
    '--workdir': 'change the folder in the command: `devctl exec --service SERVICE -- sh -c "cd FOLDER && COMMAND"`',
    '-T': 'without a terminal here, the command gets none',
    '-e': 'write the variables in the command: `devctl exec --service SERVICE -- env NAME=value COMMAND`',
    '-u': 'the command runs as the user of the container',
    '-w': 'change the folder in the command: `devctl exec --service SERVICE -- sh -c "cd FOLDER && COMMAND"`',
  },
  images: {
    '--format': '`--output json` prints JSON',
  },
  logs: {
    '--no-color': 'set `NO_COLOR=1` for output without colours',
    '--selector': 'name the services: `devctl logs SERVICE`',
    '-l': 'name the services: `devctl logs SERVICE`',
    '-t': '`--timestamps` shows the time of each line',
  },
  ps: {
    '--all': '`devctl ps` also lists services that are stopped or not deployed',
    '--all-namespaces': '`devctl namespace list` lists the namespaces',
    '--format': '`--output json` prints JSON',
    '--services': '`devctl config --services` lists the services of the files',
    '--watch': '`devctl deploy --wait` shows the progress until all workloads are ready',
    '-A': '`devctl namespace list` lists the namespaces',
    '-a': '`devctl ps` also lists services that are stopped or not deployed',
    '-w': '`devctl deploy --wait` shows the progress until all workloads are ready',
  },
  render: {
    '--dry-run': '`devctl render` changes nothing in a cluster',
  },
  restart: {
    '--force': '`devctl restart` always replaces the Pods',
    '--hard': '`devctl restart` always replaces the Pods',
    '--no-deps': '`devctl restart SERVICE` replaces the Pods of this service only',
    '-t': '`stop_grace_period` in the Compose file sets how long a service may take to stop',
  },
  run: {
    '--build':
      '`devctl deploy --build SERVICE` builds the image and deploys it; the run has the image that is deployed',
    '--cap-add': 'add the capability to `cap_add` of the service, and deploy it',
    '--entrypoint': 'the command after `--` replaces `command` of the service, and keeps its `entrypoint`',
    '--label': 'add the label to `labels` of the service, and deploy it',
    '--network': 'a run is in the networks of its service',
    '--publish': NO_PORTS,
    '--publish-all': NO_PORTS,
    '--service-ports': NO_PORTS,
    '--use-aliases': 'a run has no host name; peers reach the service itself',
    '--user': 'a run has the user of its service: set `user`, and deploy it',
    '--volume': NO_VOLUMES,
    '--workdir': RUN_FOLDER,
    '-P': NO_PORTS,
    '-l': 'add the label to `labels` of the service, and deploy it',
    '-p': NO_PORTS,
    '-u': 'a run has the user of its service: set `user`, and deploy it',
    '-w': RUN_FOLDER,
  },
  start: {
    '--wait': '`devctl wait` waits until services are ready',
  },
  stop: {
    '-t': '`stop_grace_period` in the Compose file sets how long a service may take to stop',
  },
  top: {
    '--no-stream': '`devctl top` prints the usage once',
    '--format': '`--output json` prints JSON',
  },
  up: {
    '--build': '`devctl deploy --build` builds the images of all services; `devctl up` starts a development container',
    '--force-recreate': '`devctl restart` replaces Pods even if nothing changed',
    '--no-deps': '`devctl up SERVICE` develops this service only',
    '--pull': '`pull_policy: always` of a service pulls its image whenever a Pod starts',
    '--remove-orphans': '`devctl deploy` deletes what is no longer in the files',
    '--scale': 'set `scale` in the Compose file, and use `devctl deploy`',
    '--wait': '`devctl deploy --wait` deploys the application and waits until all workloads are ready',
    '--watch': '`devctl up` always synchronizes the folders of the service',
    '-d': '`--detach` lets the container run its command by itself',
    '-w': '`devctl up` always synchronizes the folders of the service',
  },
  wait: {
    '--down-project': '`devctl wait && devctl destroy` deletes the application when its services are ready',
  },
}

/**
 * Hints for options of other tools, such as kubectl's `-p`. Each row names the devctl option with the same meaning, and
 * applies to every command with that option. If an option of another tool has several rows, the first row whose devctl
 * option the command has is used.
 */
const EVERYWHERE: Readonly<Record<string, readonly { readonly instead: string; readonly hint: string }[]>> = {
  '-p': [
    { instead: '--name', hint: '`--name NAME` names the environment' },
    {
      instead: '--environment',
      hint: 'set `name` in the Compose file, or choose an environment: `--environment NAME`',
    },
  ],
  '--project-name': [
    { instead: '--name', hint: '`--name NAME` names the environment' },
    {
      instead: '--environment',
      hint: 'set `name` in the Compose file, or choose an environment: `--environment NAME`',
    },
  ],
  '--kube-context': [{ instead: '--context', hint: '`--context NAME` chooses the context' }],
  '--kubecontext': [{ instead: '--context', hint: '`--context NAME` chooses the context' }],
  '--kubeconfig': [{ instead: '--context', hint: 'set `KUBECONFIG` to the path of the file' }],
  '--filename': [{ instead: '-f, --file', hint: '`--file PATH` names a Compose file' }],
  '--verbosity': [{ instead: '--file', hint: '`--log-level info` or `--log-level debug` prints more' }],
}

/**
 * Returns the hint for an option that the command of another tool has and the devctl command does not; undefined if
 * there is no hint. `flags` are the options of the devctl command.
 */
export function insteadOfOptionOf(command: string, option: string, flags: readonly string[]): string | undefined {
  const own = Object.hasOwn(OPTIONS, command) ? OPTIONS[command]! : {}
  if (Object.hasOwn(own, option)) return own[option]
  if (!Object.hasOwn(EVERYWHERE, option)) return undefined
  const has = (name: string) => flags.some(one => one.split(/, | /).some(word => name.split(', ').includes(word)))
  return EVERYWHERE[option]!.find(({ instead }) => has(instead))?.hint
}

/**
 * Notes for commands whose Compose counterpart deletes volumes with `-v`, by command. In devctl, `-v` is `--verbose`
 * and deletes nothing.
 */
export const VOLUMES_HINTS: Readonly<Record<string, string>> = {
  down: '`-v` is `--verbose`; `--volumes` also deletes the volume with the synchronized folders, and `devctl destroy -v` deletes the application with its volumes',
}

/** Commands of other tools, and what to use instead. */
export const COMMAND_HINTS: Readonly<Record<string, string>> = {
  rm: '`devctl destroy SERVICE` deletes a service, `devctl destroy` the application; `devctl stop RUN` ends and deletes a run',
  remove: '`devctl destroy SERVICE` deletes a service, `devctl destroy` the application',
  delete: '`devctl destroy SERVICE` deletes a service, `devctl destroy` the application',
  uninstall: '`devctl destroy` deletes the application from the cluster',
  undeploy: '`devctl destroy` deletes the application from the cluster',
  kill: '`devctl stop SERVICE` stops a service or a run, `devctl restart SERVICE` replaces its Pods',
  pause: '`devctl stop SERVICE` stops a service, and `devctl start SERVICE` starts it again; a Pod cannot be paused',
  unpause: '`devctl start SERVICE` starts a service that was stopped with `devctl stop SERVICE`',
  create: '`devctl deploy` creates what is missing',
  attach:
    '`devctl logs SERVICE` prints the output of a service; `devctl exec --service SERVICE -- sh` enters its container',
  apply: '`devctl deploy` applies the differences; `devctl render` prints the manifests',
  install: '`devctl deploy` deploys the application to the cluster',
  pull: 'the nodes of the cluster pull the images; for a registry that requires credentials, use `devctl deploy --registry-credentials`',
  push: '`devctl build` builds images and pushes them; `devctl publish` commits manifests',
  stats: '`devctl top` shows the usage of CPU and memory, `devctl ps` the status of the services',
  watch: '`devctl up SERVICE` develops a service, and applies `develop.watch`',
  volumes: '`devctl graph` draws the volumes of the services; `devctl destroy --volumes` deletes them',
  commit: 'change the Dockerfile, and build the image with `devctl build`; `devctl cp` copies files out of a container',
  export: '`devctl cp SERVICE:PATH LOCAL` copies files out of a container; `devctl render` writes the manifests',
  ls: '`devctl ps` lists the services, `devctl namespace list` the namespaces',
  list: '`devctl ps` lists the services, `devctl namespace list` the namespaces',
  get: '`devctl ps` lists the services',
  describe: '`devctl ps` shows why a service is not ready',
  port: '`devctl endpoints` lists the public addresses, `devctl forward SERVICE 8080:80` forwards a local port to a service',
  'port-forward': '`devctl forward SERVICE 8080:80` forwards a local port to a service',
  convert: '`devctl render` compiles a Compose file to manifests',
  generate: '`devctl render` compiles a Compose file to manifests',
  template: '`devctl render` compiles a Compose file to manifests',
  lint: '`devctl validate` checks the files',
  check: '`devctl validate` checks the files',
  redeploy: 'use `devctl deploy`; `devctl restart` replaces Pods even if nothing changed',
  login: '`devctl context use https://…` logs in to a platform, `docker login` to a registry',
  logout: '`devctl context delete https://…` logs out of a platform',
  sync: '`devctl up` synchronizes files with a development container',
}

/**
 * Returns the alternative to a command that devctl does not have; undefined if other tools do not have that command
 * either.
 */
export const insteadOf = (word: string): string | undefined =>
  Object.hasOwn(COMMAND_HINTS, word) ? COMMAND_HINTS[word] : undefined

/** Programs whose command lines users type after `devctl` by habit, as in `devctl docker ps`. */
const PROGRAMS = new Set(['compose', 'docker', 'docker-compose', 'kubectl', 'nerdctl', 'podman', 'podman-compose'])

/** Hints for commands of Compose and Docker whose names mean something else in devctl, by name. */
const OTHERWISE: Readonly<Record<string, string>> = {
  up: '`devctl deploy` deploys the application; `devctl up SERVICE` develops a service',
  down: '`devctl destroy` deletes the application',
  exec: '`devctl exec --service SERVICE -- COMMAND` runs a command in a container of a service',
}

/**
 * Returns the hint for a line of another program, such as `compose down -v`; undefined for other lines. `names` are the
 * commands of devctl.
 */
export function insteadOfLine(line: readonly string[], names: readonly string[]): string | undefined {
  const start = line.findIndex(word => !PROGRAMS.has(word))
  const programs = start < 0 ? line : line.slice(0, start)
  if (programs.length === 0) return undefined
  const rest = start < 0 ? [] : line.slice(start)
  const called = rest.find(word => names.includes(word) || insteadOf(word) !== undefined)
  if (called === undefined)
    return `leave \`${programs.join(' ')}\` out if you mean a command of devctl: \`devctl --help\` lists them`
  if (called === 'down' && rest.some(word => word === '-v' || word === '--volumes'))
    return '`devctl destroy -v` deletes the application with its volumes'
  return OTHERWISE[called] ?? insteadOf(called) ?? `leave \`${programs.join(' ')}\` out: \`devctl ${called}\``
}
