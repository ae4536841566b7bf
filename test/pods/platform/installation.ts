import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { findProgram } from '../../../adapters/process/find-program.ts'
import type { PlatformImageName } from '../../../platform/install/manifests/images.ts'
import { ownDockerfile } from '../../../platform/install/own-dockerfiles.ts'
import {
  BUILD_NAMESPACE,
  PLATFORM_NAMESPACE,
  RUNS_NAMESPACE,
  USERS_NAMESPACE,
} from '../../../platform/records/names.ts'
import { findBuildkit } from '../../support/buildkit/buildkit.ts'
import { root } from '../../support/cases.ts'
import { type Cluster, eventually, findCluster } from '../../support/cluster/cluster.ts'
import { Program } from '../../support/cluster/program.ts'
import { RUN } from '../../support/platform/run-name.ts'
import { few } from '../../support/takes-all.ts'

/** Registry path of the images. It is unique because nodes keep an older image under the same name. */
export const IMAGES = `127.0.0.1:5000/devctl-${RUN}-${Date.now().toString(36)}`

/** Returns options that take the base images of a Dockerfile by their tags: the cluster has its own builds of them. */
const basesByTag = (name: PlatformImageName): string =>
  ownDockerfile(name)
    .bases.map(({ argument, image }) => `--build-arg ${argument}=${image.replace(/@.*/, '')}`)
    .join(' ')

let platformImage: Promise<void> | undefined

/**
 * Builds the image of the platform once for all installations of this file, with a function that runs an operator's
 * command.
 */
export const buildPlatformImage = (operator: (line: string) => Promise<unknown>): Promise<void> => {
  const line = `build --file platform/images/platform.Dockerfile ${basesByTag('platform')} --tag ${IMAGES}/platform:0.1.0 .`
  platformImage ??= operator(line).then(() => undefined)
  return platformImage
}

/** Namespaces of a platform. */
const NAMESPACES = [PLATFORM_NAMESPACE, USERS_NAMESPACE, RUNS_NAMESPACE, BUILD_NAMESPACE]

/** Cluster, builder and forge that the tests with an installed platform need. */
export interface Surroundings {
  readonly cluster: Cluster
  /** Address of the builder of the platform's images. */
  readonly builder: string
  /** Gitea, the token of a user with all permissions, and the file of the CA that signed its certificate. */
  readonly forge: { readonly address: string; readonly token: string; readonly authority: string }
}

/** Returns undefined without a cluster that has nodes, a builder and a forge. */
export async function findSurroundings(): Promise<Surroundings | undefined> {
  const { FORGE_ADDRESS: address, FORGE_TOKEN: token, FORGE_CA: authority } = process.env
  const cluster = findCluster()
  const builder = cluster && findBuildkit()
  if (!cluster || !builder || !address || !token || !authority || !(await cluster.hasNodes())) return undefined
  return { cluster, builder, forge: { address, token, authority } }
}

/** Platform that `devctl platform install` has installed in the cluster, with users of the command line. */
export class Installation {
  readonly #around: Surroundings
  readonly folder = mkdtempSync(join(tmpdir(), 'devctl-installed-'))
  readonly images = IMAGES
  readonly url = 'https://platform.devctl.localhost'

  constructor(around: Surroundings) {
    this.#around = around
  }

  get cluster(): Cluster {
    return this.#around.cluster
  }

  /** Certificate authority of the test cluster's ingress controller, and of its forge. */
  get authority(): Buffer {
    return readFileSync(this.#around.forge.authority)
  }

  /**
   * Returns the environment variables for a command of a user; people have no kubeconfig and no builder of their own.
   */
  envOf(who: string, more: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
    const { builder, forge } = this.#around
    const own: Readonly<Record<string, string>> =
      who === 'operator' ? { BUILDKIT_HOST: builder } : { KUBECONFIG: join(this.folder, 'none'), BUILDKIT_HOST: '' }
    return { DEVCTL_HOME: join(this.folder, who), NODE_EXTRA_CA_CERTS: forge.authority, ...own, ...more }
  }

  start(who: string, line: string, { cwd = this.folder, env = {} }: CommandOptions = {}): Program {
    return new Program(line.split(' '), { cwd, env: this.envOf(who, env) }).read()
  }

  /** Returns the output of a command. Throws if it fails. */
  async ok(who: string, line: string, options?: CommandOptions): Promise<string> {
    const program = this.start(who, line, options)
    const status = await program.status
    if (status !== 0) throw new Error(`devctl ${line}: ${status}\n${program.stderr}${program.stdout}`)
    return program.stdout
  }

  /** Runs a command with a text as its standard input, and returns its output. */
  async pipe(who: string, words: readonly string[], input: string): Promise<string> {
    const env = { ...process.env, ...this.envOf(who) }
    const child = execFile(process.execPath, [join(root, 'bin/devctl.cjs'), ...words], { cwd: this.folder, env })
    child.stdin!.end(input)
    const [said, [status]] = await Promise.all([text(child.stdout!), once(child, 'close')])
    if (status !== 0) throw new Error(`devctl ${words.join(' ')}: ${status}`)
    return said
  }

  /** Builds the images, installs them with these options, and lets runs reach the forge. */
  async install(options: string): Promise<void> {
    await this.uninstall()
    await this.#makeTools()
    const tools = `--build-arg KUBECTL=${this.images}/tools:1 --build-arg HELM=${this.images}/tools:1`
    await buildPlatformImage(line => this.ok('operator', line, { cwd: root }))
    for (const name of few(['runner', 'registry'] as const))
      await this.#build(
        `--file platform/images/${name}.Dockerfile ${basesByTag(name)} ${name === 'runner' ? tools : ''}`,
        name,
      )
    if (options.includes('--builders'))
      await this.#build(
        `--file platform/images/buildkit.Dockerfile ${basesByTag('buildkit')} --build-arg BUILDKIT=${this.images}/tools:1`,
        'buildkit',
      )
    const ingress = await this.#ingress()
    // The ingress controller's name resolves to this machine itself here, so its address is given.
    const builds = options.includes('--builders') ? ` --builder-networks ${ingress}/32` : ''
    await this.upgrade(`--ca ${this.#around.forge.authority} ${options}${builds}`)
    await this.#openForge(ingress)
  }

  /** Installs the platform again, with further options. */
  async upgrade(options: string): Promise<void> {
    const line = `platform install --domain devctl.localhost --image-registry ${this.images} ${options}`
    await this.ok('operator', line.trim())
  }

  /** Removes the platform, and waits until its namespaces are deleted. */
  async uninstall(): Promise<void> {
    await this.start('operator', 'platform uninstall --yes').status
    await eventually(
      'an earlier one is gone',
      async () => {
        const { items } = await this.cluster.get<NameList>('/api/v1/namespaces')
        return items.some(({ metadata }) => NAMESPACES.includes(metadata.name)) ? undefined : true
      },
      { seconds: 270 },
    )
  }

  async close(): Promise<void> {
    await this.uninstall()
    rmSync(this.folder, { recursive: true })
    this.cluster.close()
  }

  /**
   * Returns true if the node pulls from the platform's registry, whose certificate it has to trust: the node of the
   * test cluster does. Adds a table `host`, because a containerd before 1.6.32 ignores the settings of a registry
   * without one (containerd#10027).
   */
  nodeTrusts(): boolean {
    const file = join(dirname(process.env.KUBECONFIG!), 'etc/registries/images.devctl.localhost/hosts.toml')
    if (!existsSync(file)) return false
    const text = readFileSync(file, 'utf8')
    if (!text.includes('[host')) writeFileSync(file, `${text.trimEnd()}\n\n[host]\n`)
    return true
  }

  /** Invites a user and logs them in; their personal namespace has the same name. */
  async person(login: string): Promise<void> {
    const line = await this.ok('operator', `platform invite ${login}`)
    await this.ok(login, /^ {2}devctl (context use .*)$/m.exec(line)?.[1] ?? '')
  }

  /** Calls the API of the forge as the user with the token. */
  async ask<T>(method: string, path: string, body?: object): Promise<T> {
    const { address, token } = this.#around.forge
    const headers = { authorization: `token ${token}`, 'content-type': 'application/json' }
    const url = new URL(`/api/v1${path}`, address)
    const { status, body: said } = await this.fetch(url, { method, headers, body: body && JSON.stringify(body) })
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${said}`)
    return (said === '' ? undefined : JSON.parse(said)) as T
  }

  /** Creates a repository with these files, and returns it. */
  async repository(name: string, files: Readonly<Record<string, string>>, isPrivate = false): Promise<Repository> {
    const made = await this.ask<Repository>('POST', '/user/repos', {
      ...{ name, private: isPrivate, auto_init: true, default_branch: 'main' },
    })
    for (const [path, content] of Object.entries(files)) await this.commit(made.full_name, 'main', path, content)
    return made
  }

  /** Writes a file on an existing branch. */
  async commit(repository: string, branch: string, path: string, content: string): Promise<void> {
    const at = `/repos/${repository}/contents/${path}`
    const found = await this.ask<{ sha: string }>('GET', `${at}?ref=${branch}`).catch(() => undefined)
    const body = { message: path, branch, content: Buffer.from(content).toString('base64'), sha: found?.sha }
    await this.ask(found ? 'PUT' : 'POST', at, body)
  }

  /** Returns an answer of the forge, the platform or an application over HTTPS; status 0 if there is none. */
  async fetch(url: string | URL, { method = 'GET', headers = {}, body }: FetchOptions = {}): Promise<FetchedText> {
    const sent = request(url, { method, headers, ca: this.authority, timeout: 60_000, agent: false })
    sent.on('timeout', () => sent.destroy(new Error(`${url}: no answer`)))
    sent.end(body)
    try {
      const [answer] = (await once(sent, 'response')) as [IncomingMessage]
      return { status: answer.statusCode!, headers: answer.headers, body: await text(answer) }
    } catch (error) {
      return { status: 0, headers: {}, body: String(error) }
    }
  }

  async #build(options: string, name: string, cwd = root): Promise<void> {
    await this.ok('operator', `build ${options.trim()} --tag ${this.images}/${name}:0.1.0 .`, { cwd })
  }

  /**
   * Builds one image with the kubectl, Helm and BuildKit of the test cluster: the images that the Dockerfiles name may
   * be out of reach.
   */
  async #makeTools(): Promise<void> {
    const context = join(this.folder, 'tools')
    mkdirSync(context)
    const ofCluster = (name: string) => join(dirname(process.env.KUBECONFIG!), 'bin', name)
    const programs = {
      kubectl: ofCluster('kubectl'),
      helm: ofCluster('helm'),
      buildkitd: ofCluster('buildkitd'),
      buildctl: ofCluster('buildctl'),
      // The node's runc is Debian's, like the image.
      'buildkit-runc': findRunc(),
    }
    for (const [name, path] of Object.entries(programs)) cpSync(path, join(context, name), { dereference: true })
    const lines = ['COPY kubectl /bin/', 'COPY helm /usr/bin/', 'COPY buildkitd buildctl buildkit-runc /usr/bin/']
    writeFileSync(join(context, 'Dockerfile'), `FROM scratch\n${lines.join('\n')}\n`)
    await this.ok('operator', `build --file Dockerfile --tag ${this.images}/tools:1 .`, { cwd: context })
  }

  /** Returns the address of the ingress controller, which is that of the node. */
  async #ingress(): Promise<string> {
    const { items } = await this.cluster.get<{ items: readonly NodeObject[] }>('/api/v1/nodes')
    return items[0]!.status.addresses.find(({ type }) => type === 'InternalIP')!.address
  }

  /** Lets runs reach the forge, as operators do whose forge is in the cluster, or behind its ingress. */
  async #openForge(ingress: string): Promise<void> {
    const { address } = this.#around.forge
    const { hostname, port } = new URL(address)
    // git resolves all names below `localhost` to its own machine.
    const gitconfig = `[http]\n\tcurloptResolve = ${hostname}:${port || 443}:${ingress}\n`
    const patch = JSON.stringify({ data: { gitconfig } })
    await this.cluster.kubectl('patch', 'configmap', 'ca', '--namespace=devctl-runs', '--type=merge', '--patch', patch)
    const policy = {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'forge' },
      spec: {
        podSelector: {},
        policyTypes: ['Egress'],
        egress: [{ to: [{ ipBlock: { cidr: `${ingress}/32` } }], ports: [{ port: Number(port || 443) }] }],
      },
    }
    const path = '/apis/networking.k8s.io/v1/namespaces/devctl-runs/networkpolicies'
    const { status, body } = await this.cluster.send('POST', path, policy)
    if (status !== 201) throw new Error(body)
  }
}

function findRunc(): string {
  const found = findProgram('runc', process.env)
  if (found === undefined) throw new Error('the node has no runc')
  return found
}

interface CommandOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}

interface FetchOptions {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | undefined
}

export interface FetchedText {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: string
}

/** Repository, as the forge describes it. */
export interface Repository {
  readonly id: number
  readonly full_name: string
  readonly html_url: string
  readonly owner: { readonly id: number }
}

interface NameList {
  readonly items: readonly { readonly metadata: { readonly name: string } }[]
}

interface NodeObject {
  readonly status: { readonly addresses: readonly { readonly type: string; readonly address: string }[] }
}
