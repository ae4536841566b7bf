import type { FailedDeploy, ShownDeploy, ShownEnvironment } from '../../api/environments.ts'

/** What runs in a namespace, in the two lines of a list. */
export interface Running {
  /** Of all its environments: what is wrong before what is well. */
  readonly state: 'failed' | 'waiting' | 'empty' | 'ready'
  /** Instead of the usual word of the state. */
  readonly word?: string
  /** What is wrong; of several, the first. */
  readonly problem?: { readonly service: string; readonly reason: string }
  /** The last deploy, and of which environment it was. */
  readonly deployed?: { readonly environment: string; readonly deploy: ShownDeploy }
  /** The last deploy by a run, if it has failed and nothing has followed it. */
  readonly failedDeploy?: FailedDeploy
  /** Where it is reached. */
  readonly endpoints: readonly string[]
}

/** Sums up the environments of a namespace, and its last deploy if that has failed. */
export function runningOf(items: readonly ShownEnvironment[], failedDeploy?: FailedDeploy): Running {
  const broken = items.filter(one => one.state === 'failed')
  const services = items.reduce((sum, one) => sum + one.services, 0)
  const problem = broken.find(one => one.problem)?.problem
  const [last] = items
    .flatMap(({ name, deployed }) => (deployed ? [{ environment: name, deploy: deployed }] : []))
    .sort((a, b) => Date.parse(b.deploy.at) - Date.parse(a.deploy.at))
  const more = {
    ...(problem && { problem }),
    ...(last && { deployed: last }),
    ...(failedDeploy && { failedDeploy }),
    endpoints: items.flatMap(one => one.endpoints),
  }
  if (broken.length > 0)
    return {
      state: 'failed',
      word: broken.length === 1 ? `Problem in ${broken[0]?.name}` : `${broken.length} problems`,
      ...more,
    }
  if (failedDeploy) return { state: 'failed', word: `Deploy of ${failedDeploy.environment} failed`, ...more }
  if (items.some(one => one.state === 'waiting')) return { state: 'waiting', ...more }
  if (services === 0) return { state: 'empty', ...more }
  return { state: 'ready', word: services === 1 ? '1 service ready' : `${services} services ready`, ...more }
}
