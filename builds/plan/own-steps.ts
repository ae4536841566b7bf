import { dockerfileStages } from '../../compiler/values/dockerfile/dockerfile.ts'
import type { BuildSpec } from '../../compiler/values/images/build-spec.ts'
import { dockerfileText } from '../dockerfile-place.ts'
import type { BuildEvent } from '../events.ts'

/** Pattern of a step name such as `[linux/amd64 tested 2/4] RUN npm test`: platform, stage, number of the step. */
const NAME = /^\[(?:\S+\/\S+ )?(\S+) \d+\/\d+\] /

/**
 * Forwards the events of builds without the stages of other Dockerfiles. A builder runs a step that several builds
 * share only once, and names it after the stage of the first of these builds. In the other builds, the step is shown by
 * its instruction alone. Reads the Dockerfiles.
 */
export function ownSteps(
  specs: ReadonlyMap<string, Pick<BuildSpec, 'context' | 'dockerfile'>>,
  on: (event: BuildEvent) => void,
): (event: BuildEvent) => void {
  const known = new Map<string, ReadonlySet<string> | undefined>()
  const stagesOf = (service: string) => {
    if (!known.has(service)) known.set(service, ownStages(specs.get(service)!))
    return known.get(service)
  }
  return event => {
    if (event.type !== 'build-status' || !event.status.vertexes) return on(event)
    const stages = stagesOf(event.name)
    const vertexes = event.status.vertexes.map(vertex => {
      const [stage, name] = NAME.exec(vertex.name) ?? []
      const isForeign = stage !== undefined && stages?.has(name!.toLowerCase()) === false
      return isForeign ? { ...vertex, name: vertex.name.slice(stage.length) } : vertex
    })
    on({ ...event, status: { ...event.status, vertexes } })
  }
}

/** Returns the stages of a Dockerfile as step names show them; undefined if the Dockerfile is not on this machine. */
function ownStages(spec: Pick<BuildSpec, 'context' | 'dockerfile'>): ReadonlySet<string> | undefined {
  const text = dockerfileText(spec)
  if (text === undefined) return undefined
  return new Set(dockerfileStages(text).map(name => (/^\d+$/.test(name) ? `stage-${name}` : name.toLowerCase())))
}
