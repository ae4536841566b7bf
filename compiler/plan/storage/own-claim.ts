import type { Pair, Service } from '../../compose/project.ts'
import type { Span } from '../../text/source.ts'
import { shortHash } from '../../values/dns-name.ts'
import { type PlanContext, sourceOf } from '../context.ts'
import { toAnnotations } from '../labels/annotations.ts'
import { cutName, slug } from '../object-names.ts'
import { reportTaken } from './claim-taken.ts'

/** Default size of a volume. */
export const defaultSize = '1Gi'

/**
 * Plans a claim for one mount of a service, and returns its name, which combines the service and the mount path.
 * Repeated calls for the same mount return the same name.
 */
export function planOwnClaim(
  context: PlanContext,
  service: Service,
  mount: { readonly target: string; readonly span: Span; readonly labels?: readonly Pair[] },
): string {
  const { claims } = context.objects
  const owner = context.names.of(service.name)
  const wanted = cutName(`${owner}-${slug(mount.target) || 'root'}`, 63)
  const holder = claims.get(wanted)
  const isTaken = holder !== undefined && holder.span !== mount.span
  const name = isTaken ? `${cutName(wanted, 57)}-${shortHash(mount.target, 5)}` : wanted
  const other = isTaken ? holder.span : context.objects.externalClaims.get(wanted)
  const what = `the anonymous volume \`${mount.target}\``
  if (other) reportTaken(context, { what, span: mount.span, claim: wanted, longer: name }, other)
  claims.set(name, {
    name,
    source: sourceOf(context, mount.span, ['services', service.name, 'volumes']),
    service: owner,
    span: mount.span,
    annotations: toAnnotations(context, mount.labels ?? [], service.labels),
    spec: { name, size: defaultSize, accessMode: 'ReadWriteOnce' },
  })
  return name
}
