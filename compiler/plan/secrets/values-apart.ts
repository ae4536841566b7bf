import type { Hook, Pair, Service, Words } from '../../compose/project.ts'
import type { Span } from '../../text/source.ts'
import type { Tree } from '../../text/tree.ts'
import { argumentReference, argumentVariable } from '../../values/dockerfile/argument-variables.ts'
import { quote } from '../../values/shell-words.ts'
import { type PlanContext, sourceOf } from '../context.ts'
import { cutName } from '../object-names.ts'
import type { SecretKey } from '../plan.ts'
import { objectKey } from '../storage/host-files.ts'
import { isPublic, type SecretPair } from './secret-sources.ts'

/**
 * Returns true if a text of the files has to come from a Secret because its origin is secret
 * (`PlanOptions.valuesApart`), and records the path of the text. `path` is the path of the text in a manifest.
 */
export function isApart(context: PlanContext, path: string, span: Span, text: string): boolean {
  const { options, project, valuesApart } = context
  if (!options.valuesApart || text === '' || isPublic(context, path)) return false
  const found = [...project.secretPlaces.within(span)].some(({ value }) => isPartOf(value, text))
  if (found) valuesApart.add(path)
  return found
}

/** True if one of two texts contains the other: an argument may contain a value, or a part of one. */
const isPartOf = (value: string, text: string): boolean => text.includes(value) || value.includes(text)

/**
 * Returns the given variables of a service, or of its hook at the path `at`. Variables with a secret value get the
 * value from a Secret.
 */
export function variablesApart(
  context: PlanContext,
  service: Service,
  environment: readonly Pair[],
  at: readonly string[] = keysOf(service),
): readonly (Pair | SecretPair)[] {
  return environment.map(pair => {
    const { name, value, span, key } = pair
    if (!isApart(context, [...at, 'environment', name].join('.'), span, value)) return pair
    return { name, span, ...(key && { key }), secret: keep(context, service, keyIn(at, name), value, span) }
  })
}

const keysOf = ({ name }: Service): readonly string[] => ['services', name]

/** A command whose arguments may be references to variables. */
export interface WordsApart {
  readonly words: readonly string[]
  readonly variables: readonly SecretPair[]
}

/**
 * Moves the arguments of a command that contain a secret into variables from a Secret. The arguments become `$(NAME)`,
 * which Kubernetes expands in `command` and `args`. `key` is `entrypoint` or `command` of the service or hook at the
 * path `at`.
 */
export function wordsApart(
  context: PlanContext,
  service: Service,
  key: 'entrypoint' | 'command',
  { words, span }: Words,
  at: readonly string[] = keysOf(service),
): WordsApart {
  const path = [...at, key]
  const spans = spansOfWords(context.project.tree, path, words.length)
  const variables: SecretPair[] = []
  const found = words.map((word, index) => {
    const place = spans?.[index] ?? span
    if (!isApart(context, path.join('.'), place, word)) return word
    const name = argumentVariable(key, index)
    variables.push({ name, span: place, secret: keep(context, service, keyIn(at, name), word, place) })
    return argumentReference(name)
  })
  return { words: found, variables }
}

/**
 * Returns the spans of a command's arguments if the command is written as a list of `count` items; undefined for other
 * commands, such as text.
 */
function spansOfWords(tree: Tree, path: readonly string[], count: number): readonly Span[] | undefined {
  let at: Tree | undefined = tree
  for (const key of path)
    at = at?.kind === 'map' ? at.entries.get(key)?.value : at?.kind === 'seq' ? at.items[Number(key)] : undefined
  return at?.kind === 'seq' && at.items.length === count ? at.items.map(({ span }) => span) : undefined
}

/** A text of the files that is part of a script, with its path in a manifest. */
interface PartOfScript {
  readonly path: string
  readonly span: Span
  readonly text: string
}

/** A script that a shell reads from a variable, for probes and hooks, where Kubernetes does not expand `$(NAME)`. */
export interface ScriptApart {
  readonly command: readonly string[]
  readonly variable: SecretPair
}

/**
 * Moves a script into a container variable from a Secret if one of its parts contains a secret; returns undefined
 * otherwise. `key` is the key of the service that the script comes from, such as `healthcheck`.
 */
export function scriptApart(
  context: PlanContext,
  service: Service,
  key: string,
  texts: readonly PartOfScript[],
  script: string,
): ScriptApart | undefined {
  // Evaluate `isApart` for every text, because it records each of them.
  const found = texts.filter(({ path, span, text }) => isApart(context, path, span, text))
  const [first] = found
  if (!first) return undefined
  const name = `DEVCTL_${key.toUpperCase()}`
  const secret = keep(context, service, name, script, first.span)
  return { command: ['/bin/sh', '-c', `eval "$${name}"`], variable: { name, span: first.span, secret } }
}

/**
 * Returns the script of a healthcheck that contains a secret, moved into a variable; undefined for other healthchecks.
 */
export function checkApart(context: PlanContext, service: Service): ScriptApart | undefined {
  const check = service.healthcheck?.check
  if (check?.kind !== 'exec' && check?.kind !== 'shell') return undefined
  const texts = check.kind === 'exec' ? check.command : [check.script]
  const path = `services.${service.name}.healthcheck`
  const script = check.kind === 'exec' ? `exec ${texts.map(quote).join(' ')}` : check.script
  return scriptApart(
    context,
    service,
    'healthcheck',
    texts.map(text => ({ path, span: check.span, text })),
    script,
  )
}

/** Returns the texts of hooks that run in the container, with paths such as `services.web.post_start.0.command`. */
export function textsOfHooks(
  service: Service,
  key: 'post_start' | 'pre_stop',
  hooks: readonly Hook[],
): readonly PartOfScript[] {
  return hooks.flatMap(({ command, environment }, index) => {
    const at = `services.${service.name}.${key}.${index}`
    return [
      ...(command?.words ?? []).map(text => ({ path: `${at}.command`, span: command!.span, text })),
      ...environment.map(({ name, span, value }) => ({ path: `${at}.environment.${name}`, span, text: value })),
    ]
  })
}

/**
 * Returns the key of a value in the Secret of its service. Values of hooks have a prefix, which distinguishes them from
 * the values of the service itself.
 */
const keyIn = ([, , ...inside]: readonly string[], variable: string): string => [...inside, variable].join('-')

/** Stores a value in the Secret of its service. Returns the name of the Secret and the key of the value. */
function keep(context: PlanContext, service: Service, key: string, value: string, span: Span): SecretKey {
  const { secrets } = context.objects
  const name = cutName(`${context.environment.name}-${context.names.of(service.name)}-values`, 253)
  const plan = secrets.get(name) ?? {
    name,
    service: context.names.of(service.name),
    source: sourceOf(context, service.span, ['services', service.name]),
    span,
    data: {},
  }
  const of = { name, key: objectKey(key) }
  secrets.set(name, { ...plan, data: { ...plan.data, [of.key]: new TextEncoder().encode(value) } })
  return of
}
