import { diagnostic } from '../diagnostics/diagnostic.ts'
import type { Reporter } from '../diagnostics/reporter.ts'
import { spanInside } from '../text/span-inside.ts'
import type { Lookup } from '../text/template.ts'
import type { MapTree, ScalarTree, Tree } from '../text/tree.ts'
import { textsIn } from './variables.ts'

const unset = diagnostic({
  code: 'okteto/variable',
  severity: 'warning',
  explain: `A variable of Okteto is not set. Commands of an Okteto manifest get the variables of devctl under Okteto's names, too: \`OKTETO_NAME\`, \`OKTETO_NAMESPACE\`, \`OKTETO_DOMAIN\`, \`OKTETO_REGISTRY_URL\`, \`OKTETO_GIT_BRANCH\`, \`OKTETO_GIT_COMMIT\`, \`OKTETO_ENV\`, \`OKTETO_BUILD_…\` and \`OKTETO_DEPENDENCY_…\`. In other texts, only \`OKTETO_BUILD_…\` and \`OKTETO_DEPENDENCY_…\` are set, because the manifest is read before the namespace is known; a variable of the shell or of \`.env\` works everywhere.

Variables about the Okteto platform itself, such as \`OKTETO_TOKEN\` and \`OKTETO_CONTEXT\`, are not set.`,
  text: (p: { name: string; reason: string; hint: string }) => ({
    message: `\`${p.name}\` ${p.reason}`,
    hint: p.hint,
  }),
})

/**
 * Match variables of Okteto for which devctl sets a variable with the prefix `DEVCTL_`: variables that builds and
 * dependencies set (`LATE`), and variables that are set only for commands (`IN_COMMANDS`).
 */
const LATE = /^OKTETO_(?:BUILD|DEPENDENCY)_/
const IN_COMMANDS = new Set(
  ['NAME', 'NAMESPACE', 'DOMAIN', 'USERNAME', 'REGISTRY_URL', 'GIT_BRANCH', 'GIT_COMMIT', 'ENV'].map(
    name => `OKTETO_${name}`,
  ),
)
const REFERENCE = /\$(?:\{[#!]?)?(OKTETO_[A-Z0-9_]+)/g
/**
 * Matches the operator after the name in a reference to a variable, such as `:-`, which determines the result if the
 * variable is not set.
 */
const DEFAULT = /^:?[-+?=]/

/** True if commands of an Okteto manifest receive a variable of devctl under its Okteto name as well. */
export const hasOktetoName = (variable: string): boolean => {
  const name = variable.replace(/^DEVCTL_/, 'OKTETO_')
  return name !== variable && (LATE.test(name) || IN_COMMANDS.has(name))
}

/**
 * Replaces variables of Okteto in the text of a manifest with the corresponding variables of devctl. Variables that are
 * set only for commands are replaced only in `deploy` and `destroy`. `tree` is the content of the text.
 */
export function toDevctlVariables(text: string, tree: MapTree): string {
  const sections = [...tree.entries].map(([name, { key }]) => ({ start: key.start, isOfCommands: isOfCommands(name) }))
  const areCommands = (offset: number) => sections.findLast(({ start }) => start <= offset)?.isOfCommands
  return text.replace(REFERENCE, (reference, name: string, offset: number) =>
    LATE.test(name) || (IN_COMMANDS.has(name) && areCommands(offset))
      ? reference.replace('OKTETO_', 'DEVCTL_')
      : reference,
  )
}

const isOfCommands = (section: string): boolean => section === 'deploy' || section === 'destroy'

/**
 * Reports variables of Okteto that are not set: variables of the Okteto platform and, outside `deploy` and `destroy`,
 * variables that are set only for commands. Returns the names of the reported variables.
 */
export function reportOktetoVariables(tree: MapTree, lookup: Lookup, reporter: Reporter): ReadonlySet<string> {
  const found = new Set<string>()
  for (const [section, { value }] of tree.entries)
    for (const text of textsIn(value)) {
      const isCommand = isOfCommands(section)
      for (const { 0: reference, 1: name = '', index } of text.value.matchAll(REFERENCE)) {
        const isKnown = IN_COMMANDS.has(name)
        const end = index + reference.length
        if (LATE.test(name) || (isCommand && isKnown) || lookup(name) || DEFAULT.test(text.value.slice(end))) continue
        found.add(name)
        reporter.report(unset, spanInside(text, end - name.length, end), {
          name,
          reason: isKnown ? 'is set only in commands of `deploy` and `destroy`' : 'is not set by devctl',
          hint: isKnown ? 'set it in the shell or in `.env`' : 'set it in the shell or in `.env`, or remove it',
        })
      }
    }
  return found
}

/**
 * Returns the manifest with devctl's names for the variables that builds and dependencies set. Positions stay valid,
 * because the names of devctl and Okteto have the same length.
 */
export const withDevctlVariables = (tree: MapTree): MapTree => renamed(tree) as MapTree // a map stays a map

function renamed(tree: Tree): Tree {
  switch (tree.kind) {
    case 'map':
      return {
        ...tree,
        entries: new Map([...tree.entries].map(([key, entry]) => [key, { ...entry, value: renamed(entry.value) }])),
      }
    case 'seq':
      return { ...tree, items: tree.items.map(renamed) }
    case 'scalar':
      return withLate(tree)
  }
}

function withLate(scalar: ScalarTree): ScalarTree {
  if (typeof scalar.value !== 'string' || !scalar.value.includes('OKTETO_')) return scalar
  const value = scalar.value.replace(REFERENCE, (reference, name: string) =>
    LATE.test(name) ? reference.replace('OKTETO_', 'DEVCTL_') : reference,
  )
  return { ...scalar, value }
}
