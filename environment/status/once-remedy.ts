import { programHint, startsWithProgram, UNCHECKED_HINT } from '../../compiler/plan/pod/one-shot.ts'
import { get, isMap, isScalar, isSeq, type Tree } from '../../compiler/text/tree.ts'

const CONDITION = ['deploy', 'restart_policy', 'condition'] as const
const ALWAYS: ReadonlySet<string> = new Set(['always', 'unless-stopped', 'any'])

/**
 * Returns a hint on how to change a service that ends, so that it runs only once: settings to add, or `deploy.mode:
 * global` to remove. Undefined if the file needs no change.
 */
export function onceHintOf(service: Tree | undefined): string | undefined {
  const hint = sharesPod(service) ? memberHint(service) : ownHint(service)
  return hint && `if the service should run once, ${hint}`
}

function ownHint(service: Tree | undefined): string | undefined {
  if (lasts(service)) return `write ${onceKey(service)}, which makes it a Job`
  return text(get(service, 'deploy', 'mode')) === 'global'
    ? 'remove `deploy.mode: global`, which runs it on every node again and again'
    : undefined
}

/**
 * Returns the hint on how to make a service in the Pod of another service run only once, for which devctl has to know
 * the program of the container. Undefined if the file needs no change.
 */
function memberHint(service: Tree | undefined): string | undefined {
  const isChecked = get(service, 'healthcheck') !== undefined && !isDisabled(get(service, 'healthcheck'))
  const mayServe =
    policyOf(service) === undefined && ['ports', 'expose'].some(key => words(get(service, key)).length > 0)
  const hasPolicy = policyOf(service) !== undefined || get(service, 'deploy', 'restart_policy', 'max_attempts')
  const command = words(get(service, 'command'))
  const steps = [
    ...(mayServe || (hasPolicy && lasts(service)) ? [`write ${onceKey(service)}`] : []),
    ...(isChecked ? [UNCHECKED_HINT] : []),
    ...(hasProgram(service, command) ? [] : [programHint(command.length > 0)]),
  ]
  if (steps.length > 0) return steps.join(', and ')
  if (get(service, 'healthcheck') !== undefined) return undefined
  return 'write `healthcheck: {disable: true}`, in case its image has a healthcheck'
}

const onceKey = (service: Tree | undefined): string =>
  get(service, ...CONDITION) === undefined ? '`restart: "no"`' : '`deploy.restart_policy.condition: none`'

function policyOf(service: Tree | undefined): string | undefined {
  return (text(get(service, ...CONDITION)) ?? text(get(service, 'restart')))?.replace(/:.*$/, '')
}

/** Returns true if the container is always started again. */
const lasts = (service: Tree | undefined): boolean => ALWAYS.has(policyOf(service) ?? 'always')

const hasProgram = (service: Tree | undefined, [first]: readonly string[]): boolean =>
  words(get(service, 'entrypoint')).length > 0 || (first !== undefined && startsWithProgram(first))

const isDisabled = (check: Tree | undefined): boolean =>
  text(get(check, 'disable')) === 'true' || words(get(check, 'test'))[0] === 'NONE'

/** Returns true if the service runs in the Pod of another service. */
const sharesPod = (service: Tree | undefined): boolean =>
  ['network_mode', 'pid', 'ipc', 'uts', 'cgroup'].some(key =>
    /^(?:service|container):/.test(text(get(service, key)) ?? ''),
  )

const text = (tree: Tree | undefined): string | undefined =>
  tree !== undefined && isScalar(tree) && tree.value !== null ? `${tree.value}` : undefined

/**
 * Returns the items of a list, or the words of a text; empty if the key is not set. A mapping in the list counts as the
 * word `-`.
 */
function words(tree: Tree | undefined): readonly string[] {
  if (tree === undefined) return []
  if (isSeq(tree)) return tree.items.map(item => (isMap(item) ? '-' : (text(item) ?? '')))
  return (text(tree) ?? '').split(/\s+/).filter(word => word !== '')
}
