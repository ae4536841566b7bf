import { setTimeout as pause } from 'node:timers/promises'
import type { ValueKind } from '../options/option.ts'
import type { Io } from '../terminal/io.ts'
import type { ClusterQuestion } from './cluster-values.ts'
import type { ValueQuestion } from './complete-line.ts'
import type { Suggestion } from './completion.ts'
import type { TypedLine } from './line.ts'

interface Asked {
  readonly io: Io
  readonly line: TypedLine
  readonly signal: AbortSignal
}

type List = (asked: Asked) => Promise<readonly Suggestion[]>

/**
 * Functions that list the possible values of a kind. Files and folders are listed by the shells, commands by
 * `completeLine`.
 */
const LISTS: Readonly<Record<Exclude<ValueKind, 'file' | 'folder' | 'command'>, List>> = {
  branch: async ({ io }) => (await import('./branches.ts')).branches(io),
  code: async () => (await import('./codes.ts')).codeCandidates(),
  context: async ({ io }) => (await import('./contexts.ts')).contextCandidates(io),
  async deployed(asked) {
    // A command without a context, such as `render`, names environments that need not exist.
    if (asked.line.command?.options['context'] === undefined) return []
    return (await cluster()).deployedNames(await clusterFor(asked))
  },
  async development(asked) {
    const { developments, services } = await namesFor(asked)
    return developments.length > 0 ? plain(developments) : described(services)
  },
  environment: async asked =>
    [...(await namesFor(asked)).environments].map(([value, { context, namespace }]) => ({
      value,
      description: [context && `context ${context}`, namespace && `namespace ${namespace}`].filter(Boolean).join(', '),
    })),
  image: async asked => described((await namesFor(asked)).services).map(one => ({ ...one, value: `${one.value}=` })),
  namespace: async asked => (await cluster()).namespaceNames(await clusterFor(asked)),
  pipeline: async asked => (await cluster()).pipelineNames(await clusterFor(asked)),
  preview: async asked => (await cluster()).previewNames(await clusterFor(asked)),
  profile: async asked => plain((await namesFor(asked)).profiles),
  service: async asked => described((await namesFor(asked)).services),
}

const cluster = () => import('./cluster-values.ts')

/**
 * Returns a function that lists the values of a kind within `deadline` milliseconds. If that fails, the function
 * returns no values, because the command itself reports what is wrong.
 */
export const listValues =
  (io: Io, deadline: number) =>
  async ({ kind, line }: ValueQuestion): Promise<readonly Suggestion[]> => {
    if (kind === 'file' || kind === 'folder' || kind === 'command') return []
    const found = LISTS[kind]({ io, line, signal: AbortSignal.timeout(deadline) }).catch(() => [])
    // A credential plugin may take longer to end.
    return Promise.race([found, pause(deadline, [], { ref: false })])
  }

async function namesFor({ io, line }: Asked) {
  const { readNames } = await import('./project-files.ts')
  const many = (key: string) => valuesOf(line, key)
  const one = (key: string) => many(key)?.at(-1)
  return readNames(io, {
    file: many('file'),
    projectDirectory: one('projectDirectory'),
    environment: one('environment'),
    allowOutside: many('allowOutside') !== undefined,
  })
}

/** Returns the settings that select the cluster for a line, in the same way as `targetOf` does for a command. */
async function clusterFor(asked: Asked): Promise<ClusterQuestion> {
  const { io, line, signal } = asked
  const named = line.command?.name === 'context use' ? line.words[0] : valuesOf(line, 'context')?.at(-1)
  const typed = { context: named, namespace: valuesOf(line, 'namespace')?.at(-1) }
  // Other commands do not read a manifest.
  if (line.command?.options['projectDirectory'] === undefined)
    return { io, typed, options: typed, manifest: {}, signal }
  const { environments, destination } = await namesFor(asked)
  const environment = environments.get(valuesOf(line, 'environment')?.at(-1) ?? '')
  const options = {
    context: typed.context ?? environment?.context,
    namespace: typed.namespace ?? environment?.namespace,
  }
  return { io, typed, options, manifest: destination, signal }
}

/** Returns the values of an option by its key in the declaration; undefined if the line does not use it. */
function valuesOf({ command, given }: TypedLine, key: string): readonly string[] | undefined {
  const option = command?.options[key]
  return option && given.get(option)
}

const plain = (values: readonly string[]): readonly Suggestion[] => values.map(value => ({ value }))

const described = (values: ReadonlyMap<string, string>): readonly Suggestion[] =>
  [...values].map(([value, description]) => ({ value, description }))
