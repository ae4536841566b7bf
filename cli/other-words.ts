/** Options of other builders, and what devctl has instead. */
const OF_BUILDERS: Readonly<Record<string, string>> = {
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
  '--output': 'images are pushed to a registry; `--push=false` only checks that they can be built',
  '--print': '`devctl config` prints the Compose file as devctl reads it',
  '--provenance': 'set `provenance` of `build`',
  '--quiet': '`--loglevel error` prints only errors',
  '--sbom': 'set `sbom` of `build`',
  '--set': '`--build-arg`, `--target` and `--platform` change all builds of a command',
  '--shm-size': 'set `shm_size` of `build`',
  '--ssh': 'list keys under `ssh` of `build`',
  '--ulimit': 'set `ulimits` of `build`',
  '-o': 'images are pushed to a registry; `--push=false` only checks that they can be built',
  '-q': '`--loglevel error` prints only errors',
}

/** The hint for an option that `devctl build` does not have but other builders do. */
export const insteadOfOption = (option: string): string | undefined =>
  Object.hasOwn(OF_BUILDERS, option) ? OF_BUILDERS[option] : undefined

/** Options of other tools, by command, and what devctl has instead. */
const OPTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  deploy: {
    '--detach': '`devctl deploy` does not wait until services are ready unless `--wait` is given',
    '--dry-run': '`devctl diff` shows what a deploy would change',
    '--force-recreate': '`devctl restart` replaces Pods even if nothing changed',
    '--remove-orphans': '`devctl deploy` deletes what is no longer in the files',
    '-d': '`devctl deploy` does not wait until services are ready unless `--wait` is given',
  },
  destroy: { '-v': '`--volumes` also deletes claims and their data' },
  down: { '-v': '`--volumes` also deletes the volume with the synchronized folders' },
  render: { '--dry-run': '`devctl render` changes nothing in a cluster' },
  restart: {
    '--force': '`devctl restart` always replaces the Pods',
    '--hard': '`devctl restart` always replaces the Pods',
  },
  up: { '-d': '`--detach` lets the container run its command by itself' },
}

/** Options of other tools that mean the same for each command that has the option of devctl. */
const EVERYWHERE: Readonly<Record<string, { readonly instead: string; readonly hint: string }>> = {
  '-p': { instead: '--name', hint: '`--name NAME` names the environment' },
  '--project-name': { instead: '--name', hint: '`--name NAME` names the environment' },
}

/**
 * Returns the hint for an option that a command does not have but those of other tools do. `flags` are the options of
 * the command.
 */
export function insteadOfOptionOf(command: string, option: string, flags: readonly string[]): string | undefined {
  const own = Object.hasOwn(OPTIONS, command) ? OPTIONS[command]! : {}
  if (Object.hasOwn(own, option)) return own[option]
  if (!Object.hasOwn(EVERYWHERE, option)) return undefined
  const { instead, hint } = EVERYWHERE[option]!
  return flags.some(one => one.startsWith(`${instead} `)) ? hint : undefined
}

/** Commands of other tools, and what to use instead. */
const INSTEAD: Readonly<Record<string, string>> = {
  rm: '`devctl destroy SERVICE` deletes a service, `devctl destroy` the application',
  remove: '`devctl destroy SERVICE` deletes a service, `devctl destroy` the application',
  delete: '`devctl destroy SERVICE` deletes a service, `devctl destroy` the application',
  uninstall: '`devctl destroy` deletes the application from the cluster',
  undeploy: '`devctl destroy` deletes the application from the cluster',
  kill: '`devctl restart SERVICE` replaces its Pods, `devctl destroy SERVICE` deletes it',
  stop: '`devctl destroy SERVICE` deletes a service and keeps its data, and `devctl deploy SERVICE` deploys it again; `kubectl scale --replicas 0` stops a service until it is scaled up again',
  pause: '`kubectl scale --replicas 0` stops a service until it is scaled up again; a deploy does not change that',
  start:
    '`devctl deploy SERVICE` deploys a service and its dependencies; `kubectl scale` starts a service that was stopped with it',
  unpause: '`kubectl scale --replicas 1` starts a service that was stopped with `--replicas 0`',
  create: '`devctl deploy` creates what is missing',
  apply: '`devctl deploy` applies the differences; `devctl render` prints the manifests',
  install: '`devctl deploy` deploys the application to the cluster',
  run: 'a service with `restart: "no"` is a Job, which `devctl deploy --rerun SERVICE` runs again; `kubectl run` runs anything else',
  pull: 'the nodes of the cluster pull the images; for a registry that requires credentials, use `devctl deploy --registry-credentials`',
  push: '`devctl build` builds images and pushes them; `devctl publish` commits manifests',
  top: '`kubectl top pods` shows the resource usage of Pods; `devctl ps` shows the status of the services',
  stats: '`kubectl top pods` shows the resource usage of Pods; `devctl ps` shows the status of the services',
  events: '`devctl ps` shows why a service is not ready; `kubectl get events` lists all events',
  ls: '`devctl ps` lists the services, `devctl namespace list` the namespaces',
  list: '`devctl ps` lists the services, `devctl namespace list` the namespaces',
  get: '`devctl ps` lists the services',
  describe: '`devctl ps` shows why a service is not ready',
  images: '`devctl config --images` prints the images',
  port: '`devctl endpoints` lists the public addresses, `devctl ps` the addresses within the cluster',
  'port-forward': '`devctl forward SERVICE 8080:80` forwards a local port to a service',
  scale: 'set `scale` in the Compose file and deploy, or use `kubectl scale`',
  convert: '`devctl render` compiles a Compose file to manifests',
  generate: '`devctl render` compiles a Compose file to manifests',
  template: '`devctl render` compiles a Compose file to manifests',
  lint: '`devctl validate` checks the files',
  check: '`devctl validate` checks the files',
  redeploy: 'use `devctl deploy`; `devctl restart` replaces Pods even if nothing changed',
  wait: '`devctl deploy --wait` waits until all workloads are ready',
  login: '`devctl context use https://…` logs in to a platform, `docker login` to a registry',
  logout: '`devctl context delete https://…` logs out of a platform',
  sync: '`devctl up` synchronizes files with a development container',
}

/**
 * The alternative to a command that devctl does not have; undefined for a word that other tools do
 * not have either.
 */
export const insteadOf = (word: string): string | undefined =>
  Object.hasOwn(INSTEAD, word) ? INSTEAD[word] : undefined
