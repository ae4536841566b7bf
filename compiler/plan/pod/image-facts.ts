import type { Protocol, Service } from '../../compose/project.ts'
import type { ImageFacts } from '../../values/images/image-config.ts'
import type { PlanContext } from '../context.ts'
import { builtImage } from './built-image.ts'
import { configuredImage } from './configured-image.ts'

/**
 * Returns the known facts about a service's image: from its configuration if the caller has it, otherwise from its
 * Dockerfile.
 */
export function imageFacts(context: PlanContext, service: Service): ImageFacts | undefined {
  return configuredImage(context, service) ?? builtImage(context, service)
}

/** Returns the ports that the image of a service exposes, as far as they are known. */
export function exposedByImage(
  context: PlanContext,
  service: Service,
): readonly { readonly port: number; readonly protocol: Protocol }[] {
  const exposed = imageFacts(context, service)?.exposed ?? []
  context.reporter.budget.spend('ports', exposed.length, (service.build?.context ?? service.image)?.span)
  const protocols = { tcp: 'TCP', udp: 'UDP', sctp: 'SCTP' } as const
  return exposed.map(({ port, protocol }) => ({ port, protocol: protocols[protocol] }))
}
