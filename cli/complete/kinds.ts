import { setTimeout as pause } from 'node:timers/promises'
import type { ValueKind } from '../options/option.ts'
import type { Io } from '../terminal/io.ts'
import type { ClusterQuestion } from './cluster-values.ts'
import type { ValueQuestion } from './complete-line.ts'
import type { Candidate } from './completion.ts'
import type { Line } from './line.ts'

/** What lists the values of each kind; the shells list files and folders, and `completeLine` the commands. */
const LISTS: Readonly<Record<Exclude<ValueKind, 'file' | 'folder' | 'command'>, List>> = {
  branch: async io => (await import('./branches.ts')).branches(io),
  code: async () => (await import('./codes.ts')).codeCandidates(),
  context: async io => (await import('./contexts.ts')).contextCandidates(io),
  deployed: async (io, line) => {
    // A command without a context, such as `render`, names environments that need not exist.
    if (line.command?.options['context'] === undefined) return []
    return (await import('./cluster-values.ts')).deployedNames(io, await clusterFor(io, line))
  },
  development: async (io, line) => {
    const { developments, services } = await namesFor(io, line)
    return developments.length > 0 ? plain(developments) : described(services)
  },
  environment: async (io, line) =>
    [...(await namesFor(io, line)).environments].map(([value, { context, namespace }]) => ({
      value,
      description: [context && `context ${context}`, namespace && `namespace ${namespace}`].filter(Boolean).join(', '),
    })),
  image: async (io, line) =>
    described((await namesFor(io, line)).services).map(one => ({ ...one, value: `${one.value}=` })),
  namespace: async (io, line) => (await import('./cluster-values.ts')).namespaceNames(io, await clusterFor(io, line)),
  pipeline: async (io, line) => (await import('./cluster-values.ts')).pipelineNames(io, await clusterFor(io, line)),
  preview: async (io, line) => (await import('./cluster-values.ts')).previewNames(io, await clusterFor(io, line)),
  profile: async (io, line) => plain((await namesFor(io, line)).profiles),
  service: async (io, line) => described((await namesFor(io, line)).services),
}

/** Time for the values of a cluster, in milliseconds, since the user waits. */
const DEADLINE = 800

type List = (io: Io, line: Line) => Promise<readonly Candidate[]>

/** Returns the function that lists the values of a kind; a kind that cannot be listed has none. */
export const listValues =
  (io: Io) =>
  async ({ kind, line }: ValueQuestion): Promise<readonly Candidate[]> => {
    if (kind === 'file' || kind === 'folder' || kind === 'command') return []
    // The command itself reports what is wrong.
    const found = LISTS[kind](io, line).catch(() => [])
    return Promise.race([found, pause(DEADLINE, [], { ref: false })])
  }

async function namesFor(io: Io, line: Line) {
  const { readNames } = await import('./project-files.ts')
  const many = (key: string) => valuesOf(line, key)
  const one = (key: string) => many(key)?.at(-1)
  return readNames(io, {
    file: many('file'),
    projectDirectory: one('projectDirectory'),
    environment: one('environment'),
  })
}

/** Returns the settings that select the cluster of a line, as `targetOf` does. */
async function clusterFor(io: Io, line: Line): Promise<ClusterQuestion> {
  const signal = AbortSignal.timeout(DEADLINE)
  const named = line.command?.name === 'context use' ? line.words[0] : valuesOf(line, 'context')?.at(-1)
  const options = { context: named, namespace: valuesOf(line, 'namespace')?.at(-1) }
  // Other commands do not read a manifest.
  if (line.command?.options['projectDirectory'] === undefined) return { options, manifest: {}, signal }
  const { environments, destination } = await namesFor(io, line)
  const environment = environments.get(valuesOf(line, 'environment')?.at(-1) ?? '')
  return {
    options: {
      context: options.context ?? environment?.context,
      namespace: options.namespace ?? environment?.namespace,
    },
    manifest: destination,
    signal,
  }
}

/** Returns the values of an option by its key in the declaration; undefined if the line does not use it. */
export function valuesOf({ command, given }: Line, key: string): readonly string[] | undefined {
  const option = command?.options[key]
  return option && given.get(option)
}

const plain = (values: readonly string[]): readonly Candidate[] => values.map(value => ({ value }))

const described = (values: ReadonlyMap<string, string>): readonly Candidate[] =>
  [...values].map(([value, description]) => ({ value, description }))
