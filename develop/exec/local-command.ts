import { resolve } from 'node:path'
import { statIfFound } from '../../adapters/files/stat-if-found.ts'
import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import type { KubeconfigAccess } from '../../adapters/kubernetes/connection.ts'
import { withTimeLimit } from '../../adapters/process/time-limit.ts'
import { isUsableHere } from '../../commands/kept-variables.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { Development } from '../../compiler/manifest/development.ts'
import { shownPlace } from '../../compiler/text/source.ts'
import { TOOL } from '../../constructs/mirror/scripts.ts'
import type { Workspace } from '../../project/workspace.ts'
import type { Supervisor } from '../session/supervisor.ts'
import type { RemoteTerminal } from './remote-terminal.ts'
import { type RunCommandOptions, startsAgain } from './run-command.ts'
import { runOnce } from './run-once.ts'

/** Timeout for reading the variables of the container, in milliseconds. */
const READING = 20_000

/** Variables that belong to the agent's image and process, not to the application. */
const NOT_OF_APPLICATION = new Set(['PATH', 'HOME', 'HOSTNAME', 'PWD', 'SHLVL', 'TERM', 'NODE_VERSION', 'YARN_VERSION'])

/** Access to a container for reading its variables. */
export interface VariablesOf {
  readonly access: KubeconfigAccess
  readonly namespace: string
  readonly container: string
}

/**
 * Returns the environment of a container as the kubelet has resolved it, including references to Secrets, ConfigMaps
 * and fields. It is read from a process in the container.
 */
async function containerVariables(
  { access, namespace, container }: VariablesOf,
  pod: KubeObject,
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  const parts: Buffer[] = []
  const command = [TOOL, 'cat', '/proc/self/environ']
  await runOnce({ access, namespace, pod, container, command }, withTimeLimit(READING, signal), {
    stdout: part => parts.push(part),
  })
  return parseVariables(Buffer.concat(parts).toString('utf8'))
}

/** Parses `NAME=value` pairs that end with a NUL byte. */
export function parseVariables(text: string): Readonly<Record<string, string>> {
  const pairs = text.split('\0').flatMap(one => {
    const at = one.indexOf('=')
    return at > 0 && !NOT_OF_APPLICATION.has(one.slice(0, at)) ? [[one.slice(0, at), one.slice(at + 1)] as const] : []
  })
  return Object.fromEntries(pairs)
}

/**
 * Returns the folder in which the command of a hybrid container runs. Throws a UserError if this path does not exist or
 * is not a folder.
 */
function localFolder({ workdir }: Pick<Development, 'workdir'>, folder: string): string {
  const path = resolve(folder, workdir?.value ?? '.')
  if (statIfFound(path)?.isDirectory()) return path
  throw new UserError(`\`workdir\` \`${workdir?.value}\` is not a folder of this machine`, {
    notes: workdir ? [shownPlace(workdir.span)] : [],
    hint: 'with `mode: hybrid` the command runs here: name a folder of the project',
  })
}

/**
 * Selects the container variables that a local program receives, and lists the names of the others. Not all are
 * accepted, because a user who can change the workload in the cluster could use variables to run code on this machine.
 * Accepts variables whose value the user has set (`own`), and variables whose names occur in the project's files
 * (`named`) unless they affect how programs run.
 */
export function variablesHere(
  variables: Readonly<Record<string, string>>,
  own: readonly { readonly name: string; readonly value: string }[],
  named: ReadonlySet<string>,
): { readonly taken: Readonly<Record<string, string>>; readonly leftOut: readonly string[] } {
  const all = Object.entries(variables)
  const isTaken = ([name, value]: readonly [string, string]) =>
    (named.has(name) && isUsableHere(name, value)) || own.some(one => one.name === name && one.value === value)
  return {
    taken: Object.fromEntries(all.filter(isTaken)),
    leftOut: all.filter(one => !isTaken(one)).flatMap(([name]) => (isOfCluster(name, variables) ? [] : name)),
  }
}

/**
 * Returns true for the variables of devctl and for the variables that Kubernetes sets for Services. A local program
 * does not receive them, and the user is not told.
 */
const isOfCluster = (name: string, variables: Readonly<Record<string, string>>): boolean =>
  /^DEVCTL_|_SERVICE_HOST$|_SERVICE_PORT(_\w+)?$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(name) ||
  (name.endsWith('_PORT') && Object.hasOwn(variables, `${name.slice(0, -'_PORT'.length)}_SERVICE_HOST`))

export interface HybridCommand extends VariablesOf {
  /** Variables that the user has set for the container. */
  readonly own: Parameters<typeof variablesHere>[1]
  /** Names of the variables that occur in the project's files. */
  readonly named: ReadonlySet<string>
  /** Called with the names of the container variables that the program does not receive. */
  readonly onLeftOut: (names: readonly string[]) => void
  readonly command: readonly string[]
  readonly development: Development
  /** Absolute path of the manifest's folder. */
  readonly folder: string
}

/**
 * Runs the command on this machine with the variables of the container as soon as the container is connected, and again
 * when a restart is requested. Returns its exit status.
 */
export async function runHere(
  { command, development, folder, own, named, onLeftOut, ...of }: HybridCommand,
  supervisor: Supervisor,
  terminal: RemoteTerminal,
  { env, secrets }: Workspace,
  { wishes, signal }: { readonly wishes: RunCommandOptions; readonly signal: AbortSignal },
): Promise<number> {
  const place = localFolder(development, folder)
  const { pod } = await supervisor.untilReady(signal)
  const { taken: variables, leftOut } = variablesHere(await containerVariables(of, pod, signal), own, named)
  if (leftOut.length > 0) onLeftOut(leftOut)
  secrets?.addVariables(variables)
  const ofMachine = Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && OF_MACHINE.has(name) ? [[name, value] as const] : [],
  )
  const all = { ...variables, ...Object.fromEntries(ofMachine) }
  for (;;) {
    const restart = wishes.restart()
    try {
      const either = AbortSignal.any([signal, restart])
      return await terminal.runHere(command, { folder: place, env: all, signal: either })
    } catch (error) {
      signal.throwIfAborted()
      if (!restart.aborted) throw error
      wishes.again(startsAgain(command))
    }
  }
}

/** Variables that a program takes from this machine rather than from the container. */
const OF_MACHINE = new Set([
  'PATH',
  'HOME',
  'TERM',
  'SHELL',
  'USER',
  'LOGNAME',
  'TMPDIR',
  'LANG',
  'SystemRoot',
  'PATHEXT',
])
