import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { withTimeLimit } from '../../adapters/process/time-limit.ts'
import { toServiceName } from '../../compiler/plan/object-names.ts'
import { KnownSecrets } from '../../compiler/values/secrets/known-secrets.ts'
import { maskSecrets } from '../../compiler/values/secrets/mask-secrets.ts'
import { looksNamedSecret, looksSecretText } from '../../compiler/values/secrets/secret-looks.ts'
import { stateHome } from '../../project/contexts/home.ts'
import type { LoadInput } from '../../project/input.ts'
import { manifestOf } from '../../project/open-project.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import type { Session } from '../../project/session.ts'
import type { Workspace } from '../../project/workspace.ts'
import { askSession } from '../control/client.ts'
import { knownDevelopments } from '../mirror/known-developments.ts'
import { agentOf, runs } from '../mirror/mirror-pod.ts'
import { type ChooseDev, chooseDev } from '../select/choose.ts'
import { controlAddress, type SessionKey, sessionFolder } from '../session/session-folder.ts'
import { filesRead } from './files-read.ts'
import { ignoreFiles } from './ignore-files.ts'
import { accessOf, documentsOf, eventsOf, findObjects, type InCluster, logsOf } from './in-cluster.ts'
import { listing, machine, sessionsOf, tail } from './local.ts'
import { variablesOf } from './masked.ts'
import { tryLine } from './try-line.ts'
import { writeZip } from './zip.ts'

export interface DoctorInput {
  /**
   * Name of the development container. If absent, the only development container of the project is used, or the one
   * that the user chooses.
   */
  readonly dev?: string | undefined
  readonly choose?: ChooseDev | undefined
  /** Selection of the Compose files with which the project was opened. */
  readonly loading?: LoadInput
  /** Deadline for each part in milliseconds; defaults to 15 s. */
  readonly deadline?: number
}

/**
 * Input of `doctor`. `project` is an Error if the project could not be opened, and `session` is an Error if there is no
 * session. The report includes these errors.
 */
export interface DoctorContext {
  readonly workspace: Workspace
  readonly project: OpenProject | Error
  readonly session: Session | Error
  readonly signal: AbortSignal
  readonly now: () => Date
  /** Called with each part of the report when the part is complete. */
  readonly on: (part: DoctorPart) => void
}

/** A part of the report, with the number of its files. `missing` is the reason why the part has no files. */
export interface DoctorPart {
  readonly name: string
  readonly files: number
  readonly missing?: string
}

export interface DoctorOutcome {
  /** Absolute path of the zip file. */
  readonly path: string
  readonly parts: readonly DoctorPart[]
}

type File = readonly [path: string, text: string]
const DEADLINE = 15_000

/**
 * Collects the information needed to find out why a development container does not work, and writes it to a zip file in
 * the workspace's folder. Every part has a deadline; parts that fail are listed in `metadata.json` with the reason.
 * Masks the values of variables, Secrets and annotations, and any text that looks secret.
 */
export async function doctor(world: DoctorContext, input: DoctorInput): Promise<DoctorOutcome> {
  const { workspace, session, signal, now } = world
  const dev = await whichDev(world, input)
  const home = stateHome(workspace)
  const key = session instanceof Error || dev === undefined ? undefined : keyOf(session, dev)
  const secrets = workspace.secrets ?? new KnownSecrets()
  const found: File[] = []
  const parts: DoctorPart[] = []
  const part = async (name: string, collect: (signal: AbortSignal) => Promise<readonly File[]>): Promise<void> => {
    const result = await inTime(collect, input.deadline ?? DEADLINE, signal)
    const done = Array.isArray(result) ? { name, files: result.length } : { name, files: 0, missing: result as string }
    if (Array.isArray(result)) found.push(...result)
    parts.push(done)
    world.on(done)
  }
  await Promise.all([
    part('log of `up`', async () => logsOfUp(home, key, dev)),
    part('running `up`', ended => askUp(home, key, ended)),
    part('manifest and Compose files', async () => manifestFiles(world, input)),
    part('env files', async () => giveUp(new Error(VALUES_ONLY))),
    part('ignore files', () => ignoreFiles(workspace, { project: world.project, dev, loading: input.loading ?? {} })),
    ...(session instanceof Error || dev === undefined
      ? [
          part('cluster', async () =>
            giveUp(session instanceof Error ? session : new Error('no development container is known')),
          ),
        ]
      : inCluster(session, dev, secrets, part)),
  ])
  signal.throwIfAborted()
  const metadata = { ...metadataOf(world, dev, key), parts }
  // Names of Pods look random, but the report needs them, so random-looking text is masked only in the logs of
  // applications.
  const mask = (name: string, text: string) =>
    secrets.maskKept(maskSecrets(text, name.startsWith('cluster/logs/') ? looksSecretText : looksNamedSecret))
  const files = [['metadata.json', `${JSON.stringify(metadata, null, 2)}\n`] as const, ...found]
  const path = join(workspace.cwd, `devctl-doctor-${timestamp(now())}.zip`)
  await writeZip(
    path,
    files.map(([name, text]) => [name, mask(name, text)] as const),
    now(),
  )
  return { path, parts }
}

/** Reason why no env file is in the archive: masked, it would have no content. */
const VALUES_ONLY = 'because `.env` and the files of `env_file` and `--env-file` hold values'

/**
 * Collects a part. If the collection fails, or is not complete before the deadline, returns the reason as text. Throws
 * the signal's abort reason.
 */
async function inTime<Result>(
  collect: (signal: AbortSignal) => Promise<Result>,
  deadline: number,
  signal: AbortSignal,
): Promise<Result | string> {
  const limited = withTimeLimit(deadline, signal)
  const ended = new Promise<never>((_, reject) =>
    limited.addEventListener('abort', () => reject(limited.reason), { once: true }),
  )
  // `Promise.race` handles the rejection.
  ended.catch(() => {})
  try {
    return await Promise.race([collect(limited), ended])
  } catch (error) {
    signal.throwIfAborted()
    return limited.aborted ? `not done within ${deadline / 1000} s` : reasonOf(error)
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

function giveUp(error: Error): never {
  throw error
}

const keyOf = ({ access, namespace }: Session, dev: string): SessionKey => ({
  server: access.server.href,
  namespace,
  dev,
})

/**
 * Determines the development container: from the command line, from the manifest, or from earlier sessions on this
 * machine.
 */
async function whichDev(
  { workspace, project, session, signal }: DoctorContext,
  { dev, choose, loading = {}, deadline = DEADLINE }: DoctorInput,
): Promise<string | undefined> {
  const manifest = project instanceof Error ? undefined : manifestOf(project)
  const written = manifest ? [...manifest.dev.values()].map(({ name }) => name) : []
  // A service of a Compose file may be given by its name in the file.
  if (dev !== undefined) return written.includes(dev) ? dev : toServiceName(dev)
  /**
   * Lists the containers with a session folder on this machine; includes other clusters and namespaces only if the
   * current ones are unknown.
   */
  const here = () => {
    const home = stateHome(workspace)
    const folder = session instanceof Error ? undefined : dirname(sessionFolder(home, keyOf(session, 'any')))
    const own = sessionsOf(home, undefined).filter(one => folder === undefined || dirname(one) === folder)
    return [...new Set(own.map(one => basename(one)))]
  }
  const activeOf = (limited: AbortSignal) =>
    session instanceof Error || project instanceof Error
      ? Promise.resolve([])
      : knownDevelopments({ workspace, session: { ...session, signal: limited } }, loading, project, { one: false })
  if (written.length === 1) return written[0]
  const active = session instanceof Error ? [] : await inTime(activeOf, deadline, signal)
  const names = Array.isArray(active) && active.length > 0 ? active : written.length > 0 ? written : here()
  return names.length === 0 ? undefined : chooseDev(names, undefined, choose)
}

function metadataOf({ session, now, workspace }: DoctorContext, dev: string | undefined, key: SessionKey | undefined) {
  return {
    time: now().toISOString(),
    ...machine(workspace.env),
    ...(dev !== undefined && { dev }),
    ...(!(session instanceof Error) && { namespace: session.namespace, context: session.target.context }),
    ...(key && { session: sessionFolder('', key) }),
  }
}

/**
 * Returns the logs of the session with `key`, and a list of the files in its folder. If the cluster is unknown or the
 * session has no folder, does the same for every session with the name `dev`. Throws an Error if no session has a
 * folder.
 */
function logsOfUp(home: string, key: SessionKey | undefined, dev: string | undefined): readonly File[] {
  const own = key && sessionFolder(home, key)
  const folders = own !== undefined && existsSync(own) ? [own] : sessionsOf(home, dev)
  if (folders.length === 0) throw new Error('no `devctl up` has run for it on this machine')
  return folders.flatMap((folder, at) => {
    const inZip = folders.length === 1 ? '' : `session-${at + 1}/`
    const logs = ['up.log', 'up.log.1'].filter(name => existsSync(join(folder, name)))
    return [
      ...logs.map(name => [inZip + name, tail(join(folder, name))] as const),
      [`${inZip}session-files.txt`, listing(folder)] as const,
    ]
  })
}

async function askUp(home: string, key: SessionKey | undefined, signal: AbortSignal): Promise<readonly File[]> {
  if (!key) throw new Error('the cluster is not known')
  const answer = await askSession(controlAddress(home, key, process.platform), { ask: 'report' }, signal)
  if (!answer) throw new Error('it does not run')
  return [['up.json', `${JSON.stringify(answer, withoutPasswords, 2)}\n`]]
}

/** Replacer for JSON.stringify that masks passwords, such as those of the status pages. */
const withoutPasswords = (key: string, value: unknown): unknown => (/password|token|secret/i.test(key) ? '***' : value)

function manifestFiles({ project, workspace }: DoctorContext, { loading = {} }: DoctorInput) {
  if (project instanceof Error) throw project
  return filesRead(workspace, project, loading)
}

type Part = (name: string, collect: (signal: AbortSignal) => Promise<readonly File[]>) => Promise<void>

/**
 * Collects the parts that need the cluster. The parts that need the objects of the development container wait until the
 * part `objects` has found them.
 */
function inCluster(session: Session, dev: string, secrets: KnownSecrets, part: Part): readonly Promise<void>[] {
  const objects = new Later<InCluster>()
  const all = ({ mirrors, originals, pods, claims }: InCluster) => [...mirrors, ...originals, ...pods, ...claims]
  return [
    part('objects', async signal => {
      const found = await objects.from(findObjects(session, dev, signal))
      secrets.addVariables(variablesOf(all(found)))
      const kinds = { mirrors: found.mirrors, originals: found.originals, pods: found.pods, claims: found.claims }
      if (all(found).length === 0) throw new Error(`\`${dev}\` is not active in ${session.namespace}`)
      return Object.entries(kinds)
        .filter(([, list]) => list.length > 0)
        .map(([name, list]) => [`cluster/${name}.yaml`, documentsOf(list)])
    }),
    part('events', async signal => {
      const text = await eventsOf(session, all(await objects.value), signal)
      return text === '' ? [] : [['cluster/events.txt', text]]
    }),
    part('logs of containers', async signal => {
      const { pods } = await objects.value
      return (await Promise.all(pods.map(pod => logsOf(session, pod, signal)))).flat()
    }),
    part('permissions', async signal => [['cluster/permissions.json', await accessOf(session, signal)]]),
    part('speed of the connection', async signal => {
      const pod = (await objects.value).pods.find(one => runs(one, agentOf(one)))
      if (!pod) throw new Error('no agent runs')
      const result = await tryLine(session, pod, agentOf(pod), signal)
      return [['cluster/speed.json', `${JSON.stringify(result, null, 2)}\n`]]
    }),
  ]
}

/** A value that one part of the report provides and other parts wait for. */
class Later<Value> {
  readonly value: Promise<Value>
  #resolve!: (value: Promise<Value>) => void

  constructor() {
    this.value = new Promise(resolve => {
      this.#resolve = resolve
    })
    // A failure must not be unhandled if no part waits for the value.
    this.value.catch(() => {})
  }

  from(value: Promise<Value>): Promise<Value> {
    this.#resolve(value)
    return this.value
  }
}

/** Formats a time as `20261123005900`, in the local time zone. */
const timestamp = (now: Date): string =>
  [now.getFullYear(), now.getMonth() + 1, now.getDate(), now.getHours(), now.getMinutes(), now.getSeconds()]
    .map(part => String(part).padStart(2, '0'))
    .join('')
