import { familiarName } from '../images/image-reference.ts'
import { platformArguments } from '../images/platform.ts'
import { usesDockerFrontend } from './dockerfile-frontend.ts'
import { dockerfileLines, type Instruction } from './dockerfile-lines.ts'
import { dockerfileWords, expandWord } from './dockerfile-words.ts'

/**
 * Maximum size of a Dockerfile in characters (`MOST_TEXT`), and maximum number of stages. Larger files and further
 * stages are not read.
 */
const MOST_TEXT = 1 << 20
const MOST_STAGES = 200

interface Stage {
  /** Name in lower case; empty if the stage has no name. */
  readonly name: string
  /** Names in `FROM`, `--from=` and `from=`, which refer to stages, stage numbers or images. */
  readonly uses: string[]
}

/**
 * Returns the external images that a build of `target` reads: images in `FROM`, `COPY --from=` and `RUN --mount=from=`
 * of the stages that the target needs. `args` are the build arguments. `predefined` has the arguments of the platform
 * (`TARGETARCH`), which need no `ARG`. Omits names with unknown variables, and names of stages. Returns an empty list
 * if the file uses a frontend other than Docker's (`# syntax=`).
 */
export function imagesOfDockerfile(
  text: string,
  target: string | undefined,
  args: ReadonlyMap<string, string>,
  predefined: ReadonlyMap<string, string> = new Map(),
): readonly string[] {
  if (text.length > MOST_TEXT || !usesDockerFrontend(text)) return []
  const stages = stagesOf(text, args, predefined)
  const images = new Set<string>()
  const last = target === undefined ? stages.length - 1 : numberOf(target, stages, stages.length)
  const queue = last < 0 ? [] : [last]
  const seen = new Set(queue)
  for (let number = queue.pop(); number !== undefined; number = queue.pop())
    for (const [index, name] of stages[number]!.uses.entries()) {
      // `0` is the name of an image in `FROM 0`.
      const other = numberOf(name, stages, number, index > 0)
      if (other < 0) images.add(name)
      else if (!seen.has(other)) {
        seen.add(other)
        queue.push(other)
      }
    }
  return [...images].filter(name => name !== 'scratch' && name !== '')
}

/** A Dockerfile, with the settings of its build. */
export interface BuiltDockerfile {
  readonly text: string
  readonly target: string | undefined
  /** The arguments of the build. */
  readonly args: ReadonlyMap<string, string>
  /** Target platforms. If empty, the build uses the builder's own platform, which the compiler does not know. */
  readonly platforms: readonly string[]
}

/** Build settings from the command line, which take precedence over the files. */
export interface BuildOverrides {
  readonly args?: ReadonlyMap<string, string>
  readonly target?: string | undefined
  readonly platforms?: readonly string[]
}

/** Returns a build with the settings from the command line applied. */
export const withOverrides = (
  build: BuiltDockerfile,
  { args = new Map(), target, platforms }: BuildOverrides,
): BuiltDockerfile => ({
  ...build,
  args: new Map([...build.args, ...args]),
  target: target ?? build.target,
  platforms: platforms ?? build.platforms,
})

/**
 * Returns the builds whose images a Dockerfile refers to. The keys are the names under which BuildKit looks up the
 * images. `builders` maps the familiar names of images to their builds. Omits an image if a stage has the same name, or
 * if `given` returns true for the name.
 */
export function buildersNamed(
  { text, target, args, platforms }: BuiltDockerfile,
  builders: ReadonlyMap<string, string>,
  given: (image: string) => boolean,
): ReadonlyMap<string, string> {
  const stages = new Set(stagesOf(text, new Map(), new Map()).map(({ name }) => name))
  const predefined = platforms.length === 0 ? [new Map<string, string>()] : platforms.map(platformArguments)
  const images = new Set(predefined.flatMap(own => imagesOfDockerfile(text, target, args, own)))
  return new Map(
    [...images].flatMap(image => {
      const name = familiarName(image)
      const builder = name === undefined ? undefined : builders.get(name)
      return name === undefined || builder === undefined || stages.has(name) || given(name)
        ? []
        : [[name, builder] as const]
    }),
  )
}

/** Returns the index of the last stage before `before` that has the given name or number, or -1 if there is none. */
function numberOf(name: string, stages: readonly Stage[], before: number, byNumber = true): number {
  const earlier = stages.slice(0, before)
  const found = earlier.findLastIndex(stage => stage.name !== '' && stage.name === name.toLowerCase())
  return found < 0 && byNumber && /^[0-9]+$/.test(name) && Number(name) < earlier.length ? Number(name) : found
}

function stagesOf(
  text: string,
  args: ReadonlyMap<string, string>,
  predefined: ReadonlyMap<string, string>,
): readonly Stage[] {
  const { instructions, escapeChar } = dockerfileLines(text)
  const globals = new Map([...predefined].map(([name, value]) => [name, args.get(name) ?? value]))
  const stages: Stage[] = []
  for (const instruction of instructions) {
    const words = dockerfileWords(instruction.rest, escapeChar)
    if (instruction.name === 'FROM') {
      if (stages.length >= MOST_STAGES) break
      const [image = '', as, name = ''] = words.filter(word => !word.startsWith('--'))
      const base = expandWord(image, globals, escapeChar)
      stages.push({ name: as?.toLowerCase() === 'as' ? name.toLowerCase() : '', uses: [base ?? ''] })
    } else if (stages.length > 0) stages.at(-1)!.uses.push(...usedBy(instruction, words))
    else if (instruction.name === 'ARG')
      for (const word of words) {
        const [, key = word, fallback] = /^([^=]*)=(.*)$/s.exec(word) ?? []
        const value = args.get(key) ?? (fallback === undefined ? undefined : expandWord(fallback, globals, escapeChar))
        if (value !== undefined) globals.set(key, value)
      }
  }
  return stages
}

/**
 * Returns the names in `--from=` and `--mount=from=` of an instruction. Omits names with variables, because BuildKit
 * does not expand variables in these flags.
 */
function usedBy({ name }: Instruction, words: readonly string[]): readonly string[] {
  if (name !== 'COPY' && name !== 'RUN') return []
  const end = words.findIndex(word => !word.startsWith('--'))
  const flags = end < 0 ? words : words.slice(0, end)
  const pattern = name === 'COPY' ? /^--from=(.+)$/s : /^--mount=(?:.*,)?from=([^,]+)/s
  return flags.flatMap(flag => pattern.exec(flag)?.[1] ?? []).filter(name => !name.includes('$'))
}
