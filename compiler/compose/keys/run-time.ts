/** A rule about running applications: the behavior of Compose, and of devctl in a cluster. */
export interface RunTimeRule {
  readonly topic: string
  readonly compose: string
  readonly devctl: string
  /** Path of the test that proves the rule. */
  readonly test: string
}

/** The rules for docs/compose/run-time.md, by the title of their table. */
export const runTimeRules: Readonly<Record<string, readonly RunTimeRule[]>> = {
  Names: [
    {
      topic: 'The name of another service',
      compose: 'leads to each of its containers from their start',
      devctl: 'leads to those of its Pods that are ready, by a Service of that name',
      test: 'test/pods/cluster/applications.test.ts',
    },
    {
      topic: 'A service’s own name, before it is ready',
      compose: 'its container',
      devctl:
        'its Pod, if its variables, command, check or mounted files use the name: the host name of the Pod or, with data, a Service without an address of its own. Never 127.0.0.1, so that it can listen there',
      test: 'test/pods/cluster/services.test.ts',
    },
    {
      topic: 'Members of a cluster that wait for each other',
      compose: 'reach each other before they are healthy',
      devctl: 'the same, for services of one image that name each other',
      test: 'test/pods/cluster/applications.test.ts',
    },
    {
      topic: '`container_name`, aliases of networks, `links`',
      compose: 'further names',
      devctl: 'further Services; names that a cluster cannot have are reported',
      test: 'test/unit/compiler/plan/names.test.ts',
    },
    {
      topic: '`hostname`',
      compose: 'the name of the container for itself',
      devctl: 'that of the Pod. A service with data has the name of its Pod, `db-0`',
      test: 'test/unit/compiler/plan/own-hosts.test.ts',
    },
  ],
  Ports: [
    {
      topic: 'A port that a peer uses and that no key names',
      compose: 'open',
      devctl:
        'found in variables, commands, checks, configs and mounted files, and by the image of well-known ones; a host whose port stays unknown is a warning',
      test: 'test/unit/compiler/plan/exposure.test.ts',
    },
    {
      topic: 'A published port',
      compose: 'open on the machine',
      devctl: 'a public address (HTTPS) with a domain. A port of another protocol is reported, and needs `x-expose`',
      test: 'test/unit/compiler/plan/routes.test.ts',
    },
    {
      topic: 'A port published on `127.0.0.1`',
      compose: 'open to the machine itself',
      devctl: 'no public address; `devctl forward` opens it',
      test: 'test/pods/cluster/forward.test.ts',
    },
    {
      topic: 'The published and the container port, for peers',
      compose: 'the container port only',
      devctl: 'both',
      test: 'test/pods/cluster/forward.test.ts',
    },
  ],
  Readiness: [
    {
      topic: '`depends_on` without a condition, `service_started`',
      compose: 'starts it after the other has started',
      devctl:
        '`deploy` creates it then; with waits in the manifests they start together, and a program that ends is started again',
      test: 'test/unit/compiler/plan/start-order.test.ts',
    },
    {
      topic: '`service_healthy`',
      compose: 'waits until the other is healthy',
      devctl:
        '`deploy` waits until it is ready. In manifests for GitOps, and where the other has no healthcheck, an init container waits until one of its ports accepts a connection',
      test: 'test/pods/cluster/applications.test.ts',
    },
    {
      topic: '`service_completed_successfully`',
      compose: 'waits until the other has exited with 0',
      devctl: 'waits until its Job is complete',
      test: 'test/pods/cluster/deploy-failures.test.ts',
    },
    {
      topic: '`start_period`',
      compose: 'failed checks do not count for this long',
      devctl: 'the first check comes after it. A deploy whose deadline is before it says so at once',
      test: 'test/unit/environment/status/overview.test.ts',
    },
    {
      topic: '`start_interval`',
      compose: 'checks at this interval during `start_period`',
      devctl: 'a startup probe with this interval from the start',
      test: 'test/pods/cluster/services.test.ts',
    },
    {
      topic: 'An unhealthy container',
      compose: 'keeps running',
      devctl: 'keeps running, and gets no requests until its check passes',
      test: 'test/pods/cluster/deploy-failures.test.ts',
    },
  ],
  Retries: [
    {
      topic: 'No restart policy',
      compose: 'a container that ends stays so',
      devctl: 'it is started again, unless another service waits for its completion: then it is a Job',
      test: 'test/unit/compiler/plan/kind.test.ts',
    },
    {
      topic: '`restart: "no"`',
      compose: 'runs once',
      devctl: 'a Job that is tried once',
      test: 'test/pods/cluster/services.test.ts',
    },
    {
      topic: '`restart: on-failure`, `max_attempts`',
      compose: 'runs until it exits with 0, or so many times',
      devctl: 'a Job that is tried as often. A deploy waits until the Job itself has failed',
      test: 'test/pods/cluster/deploy-failures.test.ts',
    },
    {
      topic: 'A service in the Pod of another one (`network_mode: service:main`) that ends',
      compose: 'the other one keeps running',
      devctl:
        'the same: the Pod stays ready, and the program is tried as often as its policy says; without a policy, five times after failures. The program must be known: if the file does not name it, and has a policy or a `command`, `deploy` asks the registry of the image',
      test: 'test/pods/buildkit/one-shot.test.ts',
    },
  ],
  Folders: [
    {
      topic: 'An empty named volume',
      compose: 'is filled from the image, with its owner',
      devctl: 'the same, once',
      test: 'test/pods/cluster/applications.test.ts',
    },
    {
      topic: 'A folder with tracked files',
      compose: 'the folder on the machine, read and written',
      devctl: 'a copy, read-only. The kubelet adds hidden names that begin with `..`',
      test: 'test/unit/compiler/plan/host-volumes.test.ts',
    },
    {
      topic: 'A missing or empty folder',
      compose: 'is made, and belongs to root',
      devctl: 'a claim that the user of the service can write to, kept like a volume',
      test: 'test/pods/cluster/applications.test.ts',
    },
    {
      topic: 'Configs and secrets with a `mode`',
      compose: 'of files: the mode and owner that they have on the machine',
      devctl: 'belong to root; a known user of the service can read them with any mode',
      test: 'test/unit/compiler/plan/files.test.ts',
    },
  ],
  'Shutdown order': [
    {
      topic: '`stop`, `down`',
      compose: 'stop a service before those it depends on',
      devctl:
        '`destroy` and `sleep` stop all at the same time; addresses go first. Each has its `stop_grace_period` (10 s unless set) to finish',
      test: 'test/unit/environment/destroy-order.test.ts',
    },
    {
      topic: 'A changed service',
      compose: 'is stopped, and started again',
      devctl:
        'a new Pod is ready before the old one is stopped; with data, a port of the node or one Pod per node, the old one is stopped first',
      test: 'test/unit/compiler/plan/container.test.ts',
    },
  ],
}
