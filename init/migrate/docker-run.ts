import type { Reporter } from '../../compiler/diagnostics/reporter.ts'
import { didYouMean } from '../../compiler/diagnostics/suggest.ts'
import type { SourceFile, Span } from '../../compiler/text/source.ts'
import { toDnsLabel } from '../../compiler/values/dns-name.ts'
import { type ComposeValue, DOCKER_FLAGS, type FlagEffect, type TopLevelName } from './docker-flags.ts'
import { containsFlags, reportFlags, splitFlags, withoutFlags } from './flag-words.ts'
import { badCommand, notCarriedOver, sameName, unknownFlag } from './notes.ts'
import { loopsIn } from './shell-blocks.ts'
import { engineCommands, type ShellCommand, type ShellProblem, type ShellWord, unreadCommands } from './shell-words.ts'

type MutableValue = { [key: string]: ComposeValue | MutableValue | ComposeValue[] }

/** Compose file made from commands. */
export interface MadeCompose {
  readonly services: Readonly<Record<string, ComposeValue>>
  /**
   * Top-level volumes, by their keys. The values are the names of the volumes; undefined if the name is the key.
   * `networks` contains the top-level networks in the same form.
   */
  readonly volumes: ReadonlyMap<string, string | undefined>
  readonly networks: ReadonlyMap<string, string | undefined>
}

/**
 * Converts the `docker run` commands of a script into a Compose file, with one service for each command. Reports what
 * cannot be carried over. Returns undefined if the script has no such command.
 */
export function composeOfDockerRun(file: SourceFile, reporter: Reporter): MadeCompose | undefined {
  const commands = engineCommands(file)
  const runs = commands.flatMap(command => runOf(command, reporter) ?? [])
  reportLoops(file, runs, reporter)
  for (const { why, span } of unreadCommands(file, commands))
    reporter.report(notCarriedOver, span, {
      what: file.text.slice(span.start, span.end),
      why,
      hint: 'run `devctl migrate -- docker run …` with its arguments',
    })
  if (runs.length === 0) return undefined
  const read = runs.flatMap(run => readRun(run, reporter) ?? [])
  const services: Record<string, ComposeValue> = {}
  // Containers are linked by the names of their commands.
  const names = new Map<string, string>()
  for (const { name } of read) if (!names.has(name)) names.set(name, toDnsLabel(name))
  const numbers = new Map<string, number>()
  for (const { name, service, span } of read) {
    const free = freeName(name, services, numbers)
    if (free !== toDnsLabel(name)) reporter.report(sameName, span, { name: toDnsLabel(name), service: free })
    services[free] = withNames(service, names) as ComposeValue // built of them
  }
  return {
    services,
    volumes: new Map(read.flatMap(({ volumes }) => volumes.map(({ key, name }) => [key, name]))),
    networks: new Map(read.flatMap(({ networks }) => networks.map(({ key, name }) => [key, name]))),
  }
}

/**
 * Reports the variables of loops that a command uses. A Compose file has no loops, so only one service is written for
 * all iterations.
 */
function reportLoops(file: SourceFile, runs: readonly Run[], reporter: Reporter): void {
  const loops = loopsIn(file.text)
  for (const { words, span } of runs) {
    const around = loops.filter(({ start, end }) => start <= span.start && span.start < end)
    for (const variable of new Set(around.flatMap(({ variables }) => variables))) {
      const word = words.find(({ text }) => new RegExp(`\\$\\{${variable}\\b`).test(text))
      if (!word) continue
      reporter.report(notCarriedOver, word.span, {
        what: `$${variable}`,
        why: 'it is the variable of a loop, and a Compose file has none: one service is written for all rounds',
        hint: 'write a service for each value',
      })
    }
  }
}

/** Returns the service with service names instead of container names in all keys that refer to other services. */
function withNames(service: MutableValue, names: ReadonlyMap<string, string>): MutableValue {
  const nameOf = (name: string) => names.get(name) ?? name
  const { links, network_mode: mode, volumes_from: from, pid, ipc } = service
  const ofService = (value: string) => value.replace(/(?<=^service:).*/, nameOf)
  const renamed = (list: unknown) => (list as readonly string[]).map(item => item.replace(/^[^:]*/, nameOf)) // these flags add strings
  return {
    ...service,
    ...(links !== undefined && { links: renamed(links) }),
    ...(from !== undefined && { volumes_from: renamed(from) }),
    ...(typeof mode === 'string' && { network_mode: ofService(mode) }),
    ...(typeof pid === 'string' && { pid: ofService(pid) }),
    ...(typeof ipc === 'string' && { ipc: ofService(ipc) }),
  }
}

/** Returns a name that is not taken. `numbers` has the last number that was tried for each name. */
function freeName(name: string, taken: Readonly<Record<string, unknown>>, numbers: Map<string, number>): string {
  const label = toDnsLabel(name)
  for (let number = (numbers.get(label) ?? 0) + 1; ; number++) {
    numbers.set(label, number)
    const one = number === 1 ? label : `${label}-${number}`
    if (!Object.hasOwn(taken, one)) return one
  }
}

/** The arguments of a command that runs a container. */
interface Run {
  readonly words: readonly ShellWord[]
  readonly span: Span
  readonly problem?: ShellProblem | undefined
  readonly input?: string | undefined
}

/** Commands of an engine that say nothing about a service and are therefore not reported. */
const SILENT = new Set('pull network volume login start stop rm logs ps images inspect version info'.split(' '))

/**
 * Returns the arguments of `docker run` or `docker create`; undefined for other commands. Reports other commands of a
 * container engine that could belong to a service.
 */
function runOf({ words, problem, input }: ShellCommand, reporter: Reporter): Run | undefined {
  const [engine, ...all] = words
  const { rest, unknown } = withoutFlags(all)
  const verbs = rest[0]?.text === 'container' ? rest.slice(1) : rest
  const verb = verbs[0]?.text
  if (!engine || verb === undefined) return undefined
  if (verb === 'run' || verb === 'create') {
    for (const word of unknown) reportFlags(word, engine.text, reporter)
    return { words: verbs.slice(1), span: engine.span, problem, input }
  }
  // The verb may be in the variable.
  if (unknown.length > 0) return undefined
  if (/^[a-z]+$/.test(verb) && !SILENT.has(verb))
    reporter.report(notCarriedOver, engine.span, {
      what: `${engine.text} ${verb}`,
      why: 'only `docker run` becomes a service',
      ...(verb === 'build' && { hint: 'write `build: FOLDER` at the service' }),
    })
  return undefined
}

interface ReadRun {
  readonly name: string
  /** Position of the command. */
  readonly span: Span
  readonly service: MutableValue
  readonly volumes: readonly TopLevelName[]
  readonly networks: readonly TopLevelName[]
}

function readRun({ words, span, problem, input }: Run, reporter: Reporter): ReadRun | undefined {
  const bad = (text: string, at: Span, hint: string): undefined => {
    reporter.report(badCommand, at, { problem: text, hint })
    return undefined
  }
  if (problem !== undefined) return bad(problem.text, span, problem.hint)
  const effects: FlagEffect[] = []
  let next = 0
  for (; next < words.length; next++) {
    const word = words[next]!
    if (word.text === '--') {
      next++
      break
    }
    if (containsFlags(word, words[next + 1]) && reportFlags(word, 'docker run', reporter)) continue
    if (!/^-./.test(word.text)) break
    const flags = splitFlags(word.text)
    if (typeof flags === 'string') {
      const names = Object.keys(DOCKER_FLAGS).map(name => `--${name}`)
      reporter.report(unknownFlag, word.span, { flag: flags, near: didYouMean(flags, names) })
      return undefined
    }
    for (const { flag, name, value: inline } of flags) {
      const given = inline === undefined && !flag.isSwitch ? words[++next] : undefined
      const value = inline ?? given?.text ?? (flag.isSwitch ? 'true' : undefined)
      if (value === undefined) return bad(`\`${name}\` has no value`, word.span, 'add one')
      // Half a value would be another value.
      if (reportUnknown(given ?? word, name, reporter)) continue
      for (const effect of flag.effects(value)) {
        if (effect.kind === 'lost')
          reporter.report(notCarriedOver, word.span, { what: name, why: effect.why, hint: effect.hint })
        else effects.push(effect)
      }
    }
  }
  const image = words[next]
  if (!image || (image.text === '' && image.commands.length + image.parameters.length === 0))
    return bad('the command has no image', span, 'add the image after the flags')
  if (input !== undefined)
    reporter.report(notCarriedOver, span, {
      what: input,
      why: 'a service has no standard input',
      hint: 'mount a file, and let the command read it',
    })
  for (const word of words.slice(next)) reportUnknown(word, word.text === '' ? 'an argument' : word.text, reporter)
  return { span, ...serviceOf(image.text, words.slice(next + 1), effects) }
}

/**
 * Reports a word whose value only the script can compute, because the word contains the output of a command or a
 * parameter of the script. Returns true if the word was reported.
 */
function reportUnknown({ commands, parameters, span }: ShellWord, what: string, reporter: Reporter): boolean {
  const hint = 'write the value, or a variable `${NAME}`'
  if (commands.length > 0) {
    const why = `it contains the output of \`${commands.join('` and `')}\`, and a Compose file runs no commands`
    reporter.report(notCarriedOver, span, { what, why, hint })
  } else if (parameters.length > 0) {
    const why = `it contains \`${parameters.join('` and `')}\`, and a Compose file ${
      parameters.every(one => OF_SCRIPT.test(one)) ? 'has no parameters' : 'cannot compute it'
    }`
    reporter.report(notCarriedOver, span, { what, why, hint })
  }
  return commands.length > 0 || parameters.length > 0
}

/** Matches the parameters of a script. */
const OF_SCRIPT = /^\$(?:[\d@*#?!$-]|\{(?:\d+|[@*?$-])\W)/

function serviceOf(
  image: string,
  command: readonly ShellWord[],
  effects: readonly FlagEffect[],
): Omit<ReadRun, 'span'> {
  const service: MutableValue = { image }
  if (command.length > 0) service['command'] = command.map(({ text }) => text)
  const volumes = effects.filter(effect => effect.kind === 'volume')
  const networks = effects.filter(effect => effect.kind === 'network')
  for (const effect of effects) {
    if (effect.kind === 'set') setAt(service, effect.path, effect.value)
    else if (effect.kind === 'add' && effect.path[0] !== 'networks') addAt(service, effect.path, effect.item)
  }
  const aliases = effects.flatMap(effect =>
    effect.kind === 'add' && effect.path[0] === 'networks' ? [effect.item] : [],
  )
  const ofService = networksOf(networks, aliases, service)
  if (ofService) service['networks'] = ofService
  const has = (kind: FlagEffect['kind']) => effects.some(effect => effect.kind === kind)
  // A container that is removed when it ends, and in whose foreground the user waits, is a task.
  if (has('removed') && !has('detached') && !service['restart'] && !service['ports']) service['restart'] = 'no'
  const named = effects.findLast(effect => effect.kind === 'name')
  return { name: named?.name ?? nameOfImage(image), service, volumes, networks }
}

/**
 * Returns `networks` of a service. The aliases of `--network-alias` apply to the first network. Undefined if the
 * service uses only the default network without aliases, or has `network_mode`, which excludes networks.
 */
function networksOf(
  joined: readonly (FlagEffect & { kind: 'network' })[],
  aliases: readonly ComposeValue[],
  { network_mode: mode }: MutableValue,
): ComposeValue | undefined {
  if (joined.length === 0) return aliases.length > 0 && mode === undefined ? { default: { aliases } } : undefined
  if (aliases.length === 0 && joined.every(one => one.aliases.length === 0)) return joined.map(({ key }) => key)
  const all = joined.map(({ key, aliases: own }, index) => [key, index === 0 ? [...aliases, ...own] : own] as const)
  return Object.fromEntries(all.map(([name, own]) => [name, own.length > 0 ? { aliases: own } : null]))
}

function nameOfImage(image: string): string {
  const last = image.replace(/@.*$/, '').split('/').at(-1) ?? ''
  return last.replace(/:.*$/, '').replace(/\$\{|\}/g, '') || 'app'
}

function setAt(tree: MutableValue, path: readonly string[], value: ComposeValue): void {
  const [key = '', ...rest] = path
  if (rest.length === 0) tree[key] = value
  else setAt(below(tree, key), rest, value)
}

function addAt(tree: MutableValue, path: readonly string[], item: ComposeValue): void {
  const [key = '', ...rest] = path
  if (rest.length === 0)
    tree[key] = [...((tree[key] as ComposeValue[] | undefined) ?? []), item] // it was added here
  else addAt(below(tree, key), rest, item)
}

function below(tree: MutableValue, key: string): MutableValue {
  // Names of variables and labels may be those of properties that each object inherits.
  const found = tree[key] ?? (Object.create(null) as MutableValue)
  tree[key] = found
  return found as MutableValue // paths of flags go through mappings
}
