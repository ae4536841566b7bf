import type { Service } from '../../compose/project.ts'
import { factsOfConfig, type ImageFacts } from '../../values/images/image-config.ts'
import type { PlanContext } from '../context.ts'

/**
 * Returns the facts in the image's configuration, which includes its base images; undefined if the configuration is
 * unknown.
 */
export function configuredImage({ options }: Pick<PlanContext, 'options'>, service: Service): ImageFacts | undefined {
  const config = options.imageConfigs?.get(service.name)
  return config && factsOfConfig(config)
}
