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
 * Returns whether a text of the files goes into a Secret, where all that is secret because of where it comes from
 * does (`PlanOptions.valuesApart`), and notes that it does. `path` is its path in a manifest.
 */
export function isApart(context: PlanContext, path: string, span: Span, text: string): boolean {
  const { options, project, valuesApart } = context
  if (!options.valuesApart || text === '' || isPublic(context, path)) return false
  const found = [...project.secretPlaces.within(span)].some(({ value }) => isPartOf(value, text))
  if (found) valuesApart.add(path)
  return found
}

/** True if one of two texts is a part of the other: a word may hold a value, or a part of one. */
const isPartOf = (value: string, text: string): boolean => text.includes(value) || value.includes(text)

/** The variables of a service or of one of its hooks (`at` is its path); those that are secret come from a Secret. */
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

/** Words of which some are references to variables. */
export interface WordsApart {
  readonly words: readonly string[]
  readonly variables: readonly SecretPair[]
}

/**
 * Puts the words of a command that hold something secret into variables that come from a Secret: the words become
 * `$(NAME)`, which Kubernetes replaces in `command` and `args`. `key` is `entrypoint` or `command` of what is at `at`.
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
 * Returns the positions of the arguments of a command that is written as a list; undefined if the command is a text.
 */
function spansOfWords(tree: Tree, path: readonly string[], count: number): readonly Span[] | undefined {
  let at: Tree | undefined = tree
  for (const key of path)
    at = at?.kind === 'map' ? at.entries.get(key)?.value : at?.kind === 'seq' ? at.items[Number(key)] : undefined
  return at?.kind === 'seq' && at.items.length === count ? at.items.map(({ span }) => span) : undefined
}

/** A text of the files that is a part of a script, with its path in a manifest. */
interface PartOfScript {
  readonly path: string
  readonly span: Span
  readonly text: string
}

/** A script that a shell takes from a variable: for probes and hooks, where Kubernetes does not replace `$(NAME)`. */
export interface ScriptApart {
  readonly command: readonly string[]
  readonly variable: SecretPair
}

/**
 * Puts a script into a variable of the container that comes from a Secret, if a text that it is made of holds
 * something secret; undefined otherwise. `key` is that of the service, such as `healthcheck`.
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

/** The script that a check runs, if the check holds something secret. */
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

/** The texts of hooks that run in the container, with their paths: `services.web.post_start.0.command`. */
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

/** The key of a value in the Secret of its service: that of a hook is not the service's own. */
const keyIn = ([, , ...inside]: readonly string[], variable: string): string => [...inside, variable].join('-')

/** Puts a value into the Secret of its service. */
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
