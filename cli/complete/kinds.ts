import type { ValueKind } from '../options/option.ts'
import type { Io } from '../terminal/io.ts'
import type { ValueQuestion } from './complete-line.ts'
import type { Candidate } from './completion.ts'
import type { Line } from './line.ts'

/** What lists the values of each kind; the shells list files and folders, and `completeLine` the commands. */
const LISTS: Readonly<Record<Exclude<ValueKind, 'file' | 'folder' | 'command'>, List>> = {
  branch: async io => (await import('./branches.ts')).branches(io),
  code: async () => (await import('./codes.ts')).codeCandidates(),
  context: async io => (await import('./contexts.ts')).contextCandidates(io),
  deployed: async () => [],
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
  namespace: async () => [],
  pipeline: async () => [],
  preview: async () => [],
  profile: async (io, line) => plain((await namesFor(io, line)).profiles),
  service: async (io, line) => described((await namesFor(io, line)).services),
}

type List = (io: Io, line: Line) => Promise<readonly Candidate[]>

/** Returns the function that lists the values of a kind; a kind that cannot be listed has none. */
export const listValues =
  (io: Io) =>
  async ({ kind, line }: ValueQuestion): Promise<readonly Candidate[]> => {
    try {
      return kind === 'file' || kind === 'folder' || kind === 'command' ? [] : await LISTS[kind](io, line)
    } catch {
      // The command itself reports what is wrong.
      return []
    }
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

/** Returns the values of an option by its key in the declaration; undefined if the line does not use it. */
export function valuesOf({ command, given }: Line, key: string): readonly string[] | undefined {
  const option = command?.options[key]
  return option && given.get(option)
}

const plain = (values: readonly string[]): readonly Candidate[] => values.map(value => ({ value }))

const described = (values: ReadonlyMap<string, string>): readonly Candidate[] =>
  [...values].map(([value, description]) => ({ value, description }))
