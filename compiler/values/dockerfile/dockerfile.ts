import { resolve } from 'node:path/posix'
import { parseDuration } from '../numbers/duration.ts'
import { type CopiedPath, copiedFromContext, copiedFromStage, readCopy } from './dockerfile-copies.ts'
import { usesDockerFrontend } from './dockerfile-frontend.ts'
import { dockerfileLines, type Instruction } from './dockerfile-lines.ts'
import { dockerfileWords, expandWord, type Variables } from './dockerfile-words.ts'

/** The properties of an image that its Dockerfile sets, without the properties of the base image. */
export interface DockerfileImage {
  /**
   * The external image that the build starts from, including `scratch`; absent if its name contains an unknown
   * variable.
   */
  readonly base?: string
  readonly exposed: readonly { readonly port: number; readonly protocol: 'tcp' | 'udp' | 'sctp' }[]
  readonly user?: string
  readonly volumes: readonly string[]
  readonly healthcheck?: DockerfileHealthcheck
  readonly workdir?: string
  /**
   * Arguments of the exec form; for the shell form, the shell followed by the command. An empty list clears the
   * entrypoint of the base image.
   */
  readonly entrypoint?: readonly string[]
  readonly cmd?: readonly string[]
  /** Paths that are copied from the context, as far as they are known. */
  readonly copied: readonly CopiedPath[]
}

/** A healthcheck of a Dockerfile. Durations are in nanoseconds. */
export interface DockerfileHealthcheck {
  readonly check:
    | { readonly kind: 'none' }
    | { readonly kind: 'exec'; readonly command: readonly string[] }
    | { readonly kind: 'shell'; readonly script: string }
  readonly interval?: bigint
  readonly timeout?: bigint
  readonly startPeriod?: bigint
  readonly startInterval?: bigint
  readonly retries?: number
}

/** A base image with its name in `FROM` and its working directory. */
export interface KnownBase {
  readonly name: string
  readonly workdir: string
}

const NOTHING: DockerfileImage = { exposed: [], volumes: [], copied: [] }

/**
 * Returns the image properties that a Dockerfile defines for a stage: `target`, by name or number, or the last stage.
 * Includes properties from stages of the file that the stage builds on. `args` are the build arguments. Omits values
 * with a variable that neither the file nor the arguments set, because the base image may set the variable. Never
 * fails: instructions that the builder would refuse are ignored, and an unknown target has no properties. `base` is a
 * base image whose working directory is known. (https://docs.docker.com/reference/dockerfile/)
 */
export function readDockerfile(
  text: string,
  target: string | undefined,
  args: ReadonlyMap<string, string>,
  base?: KnownBase,
): DockerfileImage {
  if (text.length > MOST_TEXT) return NOTHING
  const { instructions, escapeChar } = dockerfileLines(text)
  const globals = new Map<string, string>()
  const stages: Stage[] = []
  for (const instruction of instructions) {
    const stage = stages.at(-1)
    if (instruction.name === 'FROM' && stages.length >= MOST_STAGES) break
    if (instruction.name === 'FROM') stages.push(openStage(instruction, stages, { globals, args, escapeChar, base }))
    else if (stage) stage.apply(instruction, name => findStage(stages, name, true))
    else if (instruction.name === 'ARG')
      declareArgs(instruction.rest, globals, { variables: globals, outside: new Map(), given: args, escapeChar })
  }
  return (target === undefined ? stages.at(-1) : findStage(stages, target, true))?.image ?? NOTHING
}

/**
 * Returns the names of a Dockerfile's stages as written; a stage without a name is represented by its number. Returns
 * undefined if the file uses a frontend other than Docker's (`# syntax=`).
 */
export function dockerfileStages(text: string): readonly string[] | undefined {
  if (!usesDockerFrontend(text)) return undefined
  const { instructions, escapeChar } = dockerfileLines(text)
  return instructions
    .filter(({ name }) => name === 'FROM')
    .map(({ rest }, number) => stageName(dockerfileWords(rest, escapeChar)) || String(number))
}

/**
 * Returns the names that the `ARG` instructions of a Dockerfile declare; undefined if the file uses a frontend other
 * than Docker's (`# syntax=`).
 */
export function dockerfileArguments(text: string): ReadonlySet<string> | undefined {
  if (!usesDockerFrontend(text)) return undefined
  const { instructions, escapeChar } = dockerfileLines(text)
  const declared = instructions.map(({ name, rest }) => (name === 'ONBUILD' ? rest : `${name} ${rest}`))
  const words = declared.flatMap(line => (/^arg\s/i.test(line) ? dockerfileWords(line.slice(4), escapeChar) : []))
  return new Set(words.map(word => word.split('=')[0]!))
}

/** Returns the name of the stage that a FROM starts; empty if it has none. */
function stageName(words: readonly string[]): string {
  const [, as, name] = words.filter(word => !word.startsWith('--'))
  return as?.toLowerCase() === 'as' ? (name ?? '') : ''
}

function openStage(
  { rest }: Instruction,
  stages: readonly Stage[],
  { globals, args, escapeChar, base: known }: StageScope,
): Stage {
  const words = dockerfileWords(rest, escapeChar).filter(word => !word.startsWith('--'))
  const base = words[0] === undefined ? undefined : expandWord(words[0], globals, escapeChar)
  const name = stageName(words)
  const parent = base === undefined ? undefined : findStage(stages, base, false)
  const outside = base === undefined ? {} : { base, ...(base === known?.name && { workdir: known.workdir }) }
  return new Stage(name.toLowerCase(), parent ?? outside, globals, args, escapeChar)
}

interface StageScope {
  readonly globals: ReadonlyMap<string, string>
  readonly args: ReadonlyMap<string, string>
  readonly escapeChar: string
  readonly base: KnownBase | undefined
}

function findStage(stages: readonly Stage[], name: string, byNumber: boolean): Stage | undefined {
  const named = stages.findLast(stage => stage.name !== '' && stage.name === name.toLowerCase())
  return named ?? (byNumber && /^[0-9]+$/.test(name) ? stages[Number(name)] : undefined)
}

/**
 * Maximum size of a Dockerfile in characters (`MOST_TEXT`), and maximum number of stages. No real Dockerfile exceeds
 * these limits; anything beyond them counts as unknown.
 */
const MOST_TEXT = 1 << 20
const MOST_STAGES = 200
/**
 * Maximum number of known context paths in a stage. Without a limit, stages that copy from each other could multiply
 * the paths endlessly.
 */
const MOST_COPIES = 1000
/** Maximum number of ports in all instructions of a stage, including duplicates. */
const MOST_PORTS = 200_000

type ExposedPort = DockerfileImage['exposed'][number]
type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** A build stage, updated by applying its instructions. */
class Stage {
  readonly name: string
  readonly #image: Writable<Omit<DockerfileImage, 'exposed' | 'volumes' | 'copied'>>
  readonly #exposed: Map<string, ExposedPort>
  #portsRead = 0
  readonly #volumes: Set<string>
  readonly #parent: Stage | undefined
  /**
   * Variables of ENV. Stages that are based on this stage inherit them. The value is undefined if it is no longer
   * known.
   */
  readonly #env = new Map<string, string | undefined>()
  readonly #args = new Map<string, string>()
  readonly #globals: ReadonlyMap<string, string>
  readonly #given: ReadonlyMap<string, string>
  readonly #escapeChar: string
  readonly #copied: CopiedPath[]
  #shell: readonly string[]
  #hasCmd = false

  constructor(
    name: string,
    from: Stage | Pick<DockerfileImage, 'base' | 'workdir'>,
    globals: ReadonlyMap<string, string>,
    given: ReadonlyMap<string, string>,
    escapeChar: string,
  ) {
    const parent = from instanceof Stage ? from : undefined
    this.name = name
    this.#parent = parent
    this.#copied = [...(parent ? parent.#copied : [])]
    this.#exposed = new Map(parent ? parent.#exposed : [])
    this.#volumes = new Set(parent ? parent.#volumes : [])
    this.#image = from instanceof Stage ? { ...from.#image } : { ...from }
    this.#shell = parent ? parent.#shell : ['/bin/sh', '-c']
    this.#globals = globals
    this.#given = given
    this.#escapeChar = escapeChar
  }

  get image(): DockerfileImage {
    return {
      ...this.#image,
      exposed: [...this.#exposed.values()],
      volumes: [...this.#volumes],
      copied: this.#copied,
    }
  }

  /** Applies an instruction to the stage. `stageOf` finds a stage by name or number. */
  apply({ name, rest }: Instruction, stageOf: (name: string) => Stage | undefined): void {
    switch (name) {
      case 'COPY':
      case 'ADD':
        this.#copy(name, rest, stageOf)
        break
      case 'ARG':
        declareArgs(rest, this.#args, {
          variables: this.#variables(),
          outside: this.#globals,
          given: this.#given,
          escapeChar: this.#escapeChar,
        })
        break
      case 'ENV':
        this.#setEnv(rest)
        break
      case 'EXPOSE':
        this.#expose(this.#words(rest))
        break
      case 'VOLUME':
        for (const volume of execForm(rest) ?? this.#words(rest)) this.#volumes.add(volume)
        break
      case 'USER':
        this.#image.user = this.#expand(rest)
        break
      case 'WORKDIR':
        this.#image.workdir = this.#directory(this.#expand(rest))
        break
      case 'SHELL':
        this.#shell = execForm(rest) ?? this.#shell
        break
      case 'CMD':
        this.#image.cmd = this.#command(rest)
        this.#hasCmd = true
        break
      case 'ENTRYPOINT':
        this.#image.entrypoint = this.#command(rest)
        // The base's CMD was meant for the base's entrypoint, so it is dropped.
        if (!this.#hasCmd) this.#image.cmd = []
        break
      case 'HEALTHCHECK':
        this.#image.healthcheck = healthcheck(rest) ?? this.#image.healthcheck
        break
    }
  }

  #copy(name: 'COPY' | 'ADD', rest: string, stageOf: (name: string) => Stage | undefined): void {
    // The flags come first, optionally followed by the exec form.
    const [flags = ''] = /^(--\S+\s+)*/.exec(rest) ?? []
    const words = execForm(rest.slice(flags.length)) ?? dockerfileWords(rest.slice(flags.length), this.#escapeChar)
    const all = [...dockerfileWords(flags, this.#escapeChar), ...words]
    const copy = readCopy(
      name,
      all.map(word => this.#expand(word)),
    )
    const target = copy && this.#directory(copy.target)
    if (!copy || target === undefined) return
    const from = copy.from === undefined ? undefined : stageOf(copy.from)
    if (from === this) return
    const found =
      copy.from === undefined
        ? copiedFromContext(copy, target)
        : copiedFromStage(copy, target, from ? from.#copied : [])
    this.#copied.push(...found.slice(0, MOST_COPIES - this.#copied.length))
  }

  #variables(): Variables {
    return {
      get: name => {
        const env = this.#envWith(name)
        // ENV takes precedence over ARG even if its value is not known.
        return env ? env.get(name) : this.#args.get(name)
      },
    }
  }

  /** Finds the variables of ENV that contain a name: those of this stage, or of the nearest stage that it builds on. */
  #envWith(name: string): ReadonlyMap<string, string | undefined> | undefined {
    for (let stage: Stage | undefined = this; stage; stage = stage.#parent) if (stage.#env.has(name)) return stage.#env
    return undefined
  }

  #expand(text: string): string | undefined {
    return expandWord(text, this.#variables(), this.#escapeChar)
  }

  /** Splits a text and expands its variables. Drops parts with unknown variables. */
  #words(text: string): string[] {
    return dockerfileWords(text, this.#escapeChar).flatMap(
      word => this.#expand(word)?.split(/\s+/).filter(Boolean) ?? [],
    )
  }

  #setEnv(rest: string): void {
    const variables = this.#variables()
    const words = dockerfileWords(rest, this.#escapeChar)
    // The legacy form has one name, and the rest of the line is its value.
    const pairs = words[0]?.includes('=') === false ? [rest.replace(/\s+/, '=')] : words
    const set: [string, string | undefined][] = pairs.map(pair => {
      const equals = pair.indexOf('=')
      return [pair.slice(0, equals), expandWord(pair.slice(equals + 1), variables, this.#escapeChar)]
    })
    for (const [name, value] of set) this.#env.set(name, value)
  }

  #expose(words: readonly string[]): void {
    for (const word of words) {
      const match = /^([0-9]{1,5})(?:-([0-9]{1,5}))?(?:\/(tcp|udp|sctp))?$/i.exec(word)
      if (!match) continue
      const first = Number(match[1])
      const last = Number(match[2] ?? match[1])
      const protocol = (match[3]?.toLowerCase() ?? 'tcp') as 'tcp' | 'udp' | 'sctp' // so says the expression
      if (first < 1 || last > 65535) continue
      for (let port = first; port <= last && this.#portsRead < MOST_PORTS; port++, this.#portsRead++)
        this.#exposed.set(`${port}/${protocol}`, { port, protocol })
    }
  }

  /**
   * Resolves a directory against the current working directory. Returns undefined for a relative path if the working
   * directory comes from the base image and is not known.
   */
  #directory(path: string | undefined): string | undefined {
    if (path === undefined) return undefined
    const before = this.#image.workdir ?? (this.#image.base === 'scratch' ? '/' : undefined)
    if (path.startsWith('/')) return resolve(path)
    return before === undefined ? undefined : resolve(before, path)
  }

  #command(rest: string): readonly string[] {
    return execForm(rest) ?? (rest === '' ? [] : [...this.#shell, rest])
  }
}

interface ArgScope {
  /** Variables that a default value can use. */
  readonly variables: Variables
  /** Arguments declared before the first stage. */
  readonly outside: ReadonlyMap<string, string>
  /** Build arguments set by the user. */
  readonly given: ReadonlyMap<string, string>
  readonly escapeChar: string
}

/**
 * Declares the names of an ARG. A name gets the value of the build argument or, without one, its default. A name
 * without a default gets the value declared before the first stage.
 */
function declareArgs(rest: string, into: Map<string, string>, scope: ArgScope): void {
  for (const word of dockerfileWords(rest, scope.escapeChar)) {
    const equals = word.indexOf('=')
    const name = equals < 0 ? word : word.slice(0, equals)
    const fallback =
      equals < 0 ? scope.outside.get(name) : expandWord(word.slice(equals + 1), scope.variables, scope.escapeChar)
    const value = scope.given.get(name) ?? fallback
    if (value === undefined) into.delete(name)
    else into.set(name, value)
  }
}

/** Parses a JSON list of strings; returns undefined for other texts, which are in shell form. */
function execForm(rest: string): string[] | undefined {
  if (!rest.startsWith('[')) return undefined
  try {
    const list: unknown = JSON.parse(rest)
    return Array.isArray(list) && list.every(word => typeof word === 'string') ? list : undefined
  } catch {
    return undefined
  }
}

function healthcheck(rest: string): DockerfileHealthcheck | undefined {
  const options = new Map<string, string>()
  let command = rest
  for (let match = OPTION.exec(command); match; match = OPTION.exec(command)) {
    options.set(match[1]!, match[2]!)
    command = command.slice(match[0].length)
  }
  const [, kind = '', text = ''] = /^(\S+)\s*(.*)$/s.exec(command) ?? []
  if (kind.toUpperCase() === 'NONE') return { check: { kind: 'none' } }
  if (kind.toUpperCase() !== 'CMD' || text === '') return undefined
  const words = execForm(text)
  const duration = (name: string): bigint | undefined => {
    const parsed = parseDuration(options.get(name) ?? '')
    // Zero means the default for the builder.
    return parsed.ok && parsed.value > 0n ? parsed.value : undefined
  }
  const retries = Number(options.get('retries') ?? 0)
  return {
    check: words ? { kind: 'exec', command: words } : { kind: 'shell', script: text },
    interval: duration('interval'),
    timeout: duration('timeout'),
    startPeriod: duration('start-period'),
    startInterval: duration('start-interval'),
    retries: Number.isInteger(retries) && retries > 0 ? retries : undefined,
  }
}

const OPTION = /^--([a-z-]+)=(\S+)\s+/
