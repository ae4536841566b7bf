import { circle } from '../../../diagnostics/circle.ts'
import { diagnostic, type Related } from '../../../diagnostics/diagnostic.ts'
import type { Reporter } from '../../../diagnostics/reporter.ts'
import type { Span } from '../../../text/source.ts'
import { entry, get, isMap, type MapTree, type Tree } from '../../../text/tree.ts'
import { scalarText } from '../../../text/tree-text.ts'
import { cleanPath } from '../../../values/clean-path.ts'
import { entryOf } from '../../read/storage/entry-variables.ts'
import { findCircles } from '../compose-files/find-circles.ts'
import { checkBuilds } from './build-consistency.ts'
import {
  type ConsistencyInput,
  checkSources,
  exclusive,
  items,
  reportUndefined,
  scalarAt,
} from './consistency-input.ts'

const noImage = diagnostic({
  code: 'services/no-image',
  severity: 'error',
  explain: 'A service needs an `image`, or a `build` that creates one. Without either there is nothing to run.',
  text: (p: { service: string }) => ({
    message: `service \`${p.service}\` has neither \`image\` nor \`build\``,
    hint: 'add `image: NAME:TAG`, or `build: .`',
  }),
})
const differ = diagnostic({
  code: 'services/values-differ',
  severity: 'error',
  explain:
    'Two keys set the same thing to different values, such as `scale` and `deploy.replicas`, or `mem_limit` and `deploy.resources.limits.memory`. Keep one of them.',
  text: (p: { one: string; other: string }) => ({
    message: `\`${p.one}\` and \`${p.other}\` differ`,
    hint: 'keep one of them',
  }),
})
const belowZero = diagnostic({
  code: 'services/negative-scale',
  severity: 'error',
  explain:
    '`scale` and `deploy.replicas` set how many containers a service runs: zero or more. With zero the service exists and runs nothing.',
  text: (p: { key: string }) => ({ message: `\`${p.key}\` must not be negative` }),
})
const disabledReference = diagnostic({
  code: 'reference/disabled',
  severity: 'error',
  explain:
    'A service depends on one whose profiles are all inactive. Activate one of them (`--profile NAME`, `COMPOSE_PROFILES`), give both services the same profile, or add `required: false` to the dependency.',
  text: (p: { name: string }) => ({
    message: `the service \`${p.name}\` is not active`,
    hint: 'activate its profile, or add `required: false` to the dependency',
  }),
})
const badTest = diagnostic({
  code: 'healthcheck/bad-test',
  severity: 'error',
  explain:
    "The list form of a healthcheck's `test` must begin with `CMD` (a command), `CMD-SHELL` (a shell command) or `NONE`. A single string is a shell command.",
  text: (p: { first: string }) => ({
    message: `a \`test\` list must begin with \`CMD\`, \`CMD-SHELL\` or \`NONE\`, not \`${p.first}\``,
    hint: 'put `CMD` first',
  }),
})
const watchTarget = diagnostic({
  code: 'develop/no-target',
  severity: 'error',
  explain:
    'A `develop.watch` rule that copies files (`sync`, `sync+restart`, `sync+exec`) needs a `target`, the path in the container to copy to.',
  text: (p: { action: string }) => ({ message: `a watch rule with the action \`${p.action}\` needs a \`target\`` }),
})
const watchExec = diagnostic({
  code: 'develop/no-exec',
  severity: 'error',
  explain: `A \`develop.watch\` rule with the action \`sync+exec\` copies files and then runs a command in the container. It needs the command:

\`\`\`yaml
develop:
  watch:
    - path: ./migrations
      target: /app/migrations
      action: sync+exec
      exec:
        command: ./migrate.sh
\`\`\``,
  text: (_: Record<never, never>) => ({
    message: 'a watch rule with the action `sync+exec` has no command',
    hint: 'add `exec: {command: …}`, or write `action: sync`',
  }),
})
const mountedTwice = diagnostic({
  code: 'volumes/mounted-twice',
  severity: 'error',
  explain: 'Two mounts of a service have the same path in the container, so one would hide the other.',
  text: (p: { path: string }) => ({ message: `two mounts use the same path \`${p.path}\`` }),
})
const cycle = diagnostic({
  code: 'depends-on/cycle',
  severity: 'error',
  explain:
    'Services depend on each other in a cycle, so none of them can start. Remove one of the dependencies; links, shared namespaces (`network_mode: service:…`) and `volumes_from` count as dependencies too.',
  text: (p: { path: readonly string[]; hint?: string | undefined }) => ({
    message: `services depend on each other in a cycle: ${circle(p.path)}`,
    hint: p.hint,
  }),
})

/**
 * Checks rules that involve several keys or several services: contradicting keys, references, dependency cycles,
 * mounts. Skips parts that already have an error.
 */
export function checkConsistency(input: ConsistencyInput): void {
  const services = get(input.model, 'services')
  if (!isMap(services)) return
  for (const [name, { key, value }] of services.entries) {
    input.reporter.budget.checkTime(key)
    if (isMap(value)) checkService(name, key, value, input)
  }
  checkCycles(services, input)
  checkBuilds(services, input)
}

function checkService(name: string, key: Span, service: MapTree, input: ConsistencyInput): void {
  const { reporter } = input
  const mayHaveOne = ['build', 'image', 'provider'].some(one => input.isInvalidKey(name, one))
  if (!mayHaveOne && !get(service, 'build') && !scalarAt(service, 'image') && !get(service, 'provider'))
    reporter.report(noImage, key, { service: name })
  if (scalarAt(service, 'network_mode') && get(service, 'networks'))
    reporter.report(exclusive, entry(service, 'network_mode')!.key, { one: 'network_mode', other: 'networks' }, [
      { span: entry(service, 'networks')!.key, message: 'the other one' },
    ])
  const test = items(get(service, 'healthcheck', 'test'))[0]
  if (test?.kind === 'scalar' && !['CMD', 'CMD-SHELL', 'NONE'].includes(scalarText(test)))
    reporter.report(badTest, test.span, { first: scalarText(test) })
  checkReferences(service, input)
  checkDependencies(service, input)
  checkDeployEquivalents(service, reporter)
  for (const rule of items(get(service, 'develop', 'watch'))) checkWatch(rule, reporter)
  checkMounts(service, reporter)
}

function checkWatch(rule: Tree, reporter: Reporter): void {
  const action = scalarAt(rule, 'action')
  if (!action) return
  const name = scalarText(action)
  if (!scalarAt(rule, 'target') && !['rebuild', 'restart'].includes(name))
    reporter.report(watchTarget, action.span, { action: name })
  if (name === 'sync+exec' && !hasWords(get(rule, 'exec', 'command'))) reporter.report(watchExec, action.span, {})
}

/** True if a command has at least one argument. */
const hasWords = (command: Tree | undefined): boolean =>
  command?.kind === 'seq' ? command.items.length > 0 : command?.kind === 'scalar' && scalarText(command).trim() !== ''

function checkReferences(service: MapTree, input: ConsistencyInput): void {
  const check = (kind: string, section: string, name: string, span: Span, hint?: string) => {
    const known = get(input.model, section)
    if (!isMap(known) || !known.entries.has(name)) reportUndefined({ kind, section, name, span, hint }, input)
  }
  const networks = get(service, 'networks')
  if (isMap(networks)) for (const [name, { key }] of networks.entries) check('network', 'networks', name, key)
  const models = get(service, 'models')
  if (isMap(models)) for (const [name, { key }] of models.entries) check('model', 'models', name, key)
  for (const mount of items(get(service, 'volumes'))) {
    const source = scalarAt(mount, 'source')
    if (scalarAt(mount, 'type')?.value !== 'volume' || !source) continue
    const name = scalarText(source)
    check('volume', 'volumes', name, source.span, volumeHint(name, mount, input))
  }
  for (const [kind, section, mounts] of [
    ['config', 'configs', get(service, 'configs')],
    ['secret', 'secrets', get(service, 'secrets')],
  ] as const)
    checkSources(kind, section, mounts, input)
  for (const [kind, section] of [
    ['config', 'configs'],
    ['secret', 'secrets'],
  ] as const) {
    const variables = get(service, `x-${kind}-environment`)
    if (!isMap(variables)) continue
    for (const { value } of variables.entries.values()) {
      const entry = entryOf(value)
      if (entry) check(kind, section, scalarText(entry), entry.span)
    }
  }
}

/** Returns the hint for an undefined volume that is probably a path without a leading `./`. */
function volumeHint(name: string, mount: Tree, { isFolder }: ConsistencyInput): string | undefined {
  if (name.includes('/')) return `a path begins with \`./\`: write \`./${name}\``
  if (!isFolder(name)) return undefined
  const target = scalarAt(mount, 'target')
  return `to mount the folder \`${name}\`, write \`./${name}${target ? `:${scalarText(target)}` : ''}\`; for a volume, define it under top-level \`volumes\``
}

function checkDependencies(service: MapTree, input: ConsistencyInput): void {
  const enabled = get(input.model, 'services')
  const check = (name: string, span: Span, required: boolean) => {
    if (isMap(enabled) && enabled.entries.has(name)) return
    if (input.isInvalid(`services.${name}`)) return
    if (get(input.allServices, name)) {
      if (required) input.reporter.report(disabledReference, span, { name })
    } else reportUndefined({ kind: 'service', section: 'services', name, span }, input)
  }
  const dependencies = get(service, 'depends_on')
  if (isMap(dependencies))
    for (const [name, { key, value }] of dependencies.entries)
      check(name, key, scalarAt(value, 'required')?.value !== false)
}

/**
 * Keys that have an equivalent with another name in `deploy`. If only one of the two keys is set, Docker Compose also
 * reports a difference; devctl does not.
 */
const DEPLOY_EQUIVALENTS = [
  ['cpus', ['deploy', 'resources', 'limits', 'cpus']],
  ['mem_limit', ['deploy', 'resources', 'limits', 'memory']],
  ['mem_reservation', ['deploy', 'resources', 'reservations', 'memory']],
  ['pids_limit', ['deploy', 'resources', 'limits', 'pids']],
  ['scale', ['deploy', 'replicas']],
] as const

function checkDeployEquivalents(service: MapTree, reporter: Reporter): void {
  for (const [key, path] of DEPLOY_EQUIVALENTS) {
    const own = scalarAt(service, key)
    const other = scalarAt(service, ...path)
    if (own && other && own.value !== other.value) {
      const related: Related[] = [{ span: other.span, message: 'the other value' }]
      reporter.report(differ, own.span, { one: key, other: path.join('.') }, related)
    }
  }
  const scale = scalarAt(service, 'scale')
  const replicas = scalarAt(service, 'deploy', 'replicas')
  if (Number(scale?.value ?? 0) < 0) reporter.report(belowZero, scale!.span, { key: 'scale' })
  if (Number(replicas?.value ?? 0) < 0) reporter.report(belowZero, replicas!.span, { key: 'deploy.replicas' })
  const name = scalarAt(service, 'container_name')
  const number = scale ?? replicas
  if (name && Number(number?.value ?? 1) > 1)
    reporter.report(
      exclusive,
      name.span,
      {
        one: 'container_name',
        other: scale ? 'scale' : 'deploy.replicas',
        hint: 'several containers cannot share one name',
      },
      [{ span: number!.span, message: 'more than one container' }],
    )
}

function checkMounts(service: MapTree, reporter: Reporter): void {
  const mounted = new Map<string, Span>()
  const mount = (path: string, span: Span) => {
    const before = mounted.get(path)
    if (before) reporter.report(mountedTwice, span, { path }, [{ span: before, message: 'first mounted here' }])
    else mounted.set(path, span)
  }
  for (const tmpfs of items(get(service, 'tmpfs')))
    if (tmpfs.kind === 'scalar') mount(cleanPath(scalarText(tmpfs).split(':')[0]!), tmpfs.span)
  for (const volume of items(get(service, 'volumes'))) {
    const target = scalarAt(volume, 'target')
    if (target) mount(scalarText(target), target.span)
  }
}

/** Reports each dependency cycle once. Uses no recursion, because dependency chains may be long. */
function checkCycles(services: MapTree, { reporter }: ConsistencyInput): void {
  const dependenciesOf = (name: string) => {
    const dependencies = get(services, name, 'depends_on')
    if (!isMap(dependencies)) return []
    return [...dependencies.entries].map(([name, { key }]) => ({ name, span: key }))
  }
  for (const { span, path } of findCircles(services.entries.keys(), dependenciesOf))
    reporter.report(cycle, span, { path, hint: sharingHint(services, path) })
}

/**
 * Returns the hint for a cycle in which a service shares a namespace of another service, because such a dependency is
 * easy to overlook. Undefined for other cycles.
 */
function sharingHint(services: MapTree, path: readonly string[]): string | undefined {
  for (const [index, from] of path.entries()) {
    const to = path[(index + 1) % path.length]
    const key = NAMESPACES.find(one => scalarAt(services, from, one)?.value === `service:${to}`)
    if (key) return `remove \`${key}: service:${to}\` from \`${from}\`, so that it can start before \`${to}\``
  }
  return undefined
}

const NAMESPACES = ['network_mode', 'pid', 'ipc', 'uts', 'cgroup']
