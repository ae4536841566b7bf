import type { Pair, Service } from '../../compose/project.ts'
import { checkAnnotationSize } from '../../compose/read/annotation-size.ts'
import { toJson } from '../../compose/read/kubernetes/fields.ts'
import { type ReadPiece, readPiece } from '../../compose/read/kubernetes/piece.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Tree } from '../../text/tree.ts'
import type { KubernetesMember } from '../../values/kubernetes/members.ts'
import { type PlanContext, sourceOf } from '../context.ts'
import type {
  ClaimSpec,
  ContainerPlan,
  ObjectPlan,
  PiecePlan,
  Plan,
  PodPlan,
  RoutePlan,
  ServiceAccountPlan,
  ServicePlan,
  WorkloadPlan,
} from '../plan.ts'
import type { Group } from '../workload/groups.ts'
import { reportOwned } from './owned-fields.ts'

const sharedPod = diagnostic({
  code: 'kubernetes/shared-pod',
  severity: 'error',
  explain:
    'Services that share a namespace are containers of one Pod. The service whose namespaces are shared decides about the Pod, its workload, its claims and its ServiceAccount; `container` and `service` are possible in each of them.',
  text: (p: { service: string; lead: string; member: string }) => ({
    message: `\`${p.service}\` runs in the Pod of \`${p.lead}\`, which decides about it`,
    hint: `move \`${p.member}\` to \`x-kubernetes\` of \`${p.lead}\``,
  }),
})

const noObject = diagnostic({
  code: 'kubernetes/no-object',
  severity: 'error',
  explain:
    'A member of `x-kubernetes` adds fields to objects that devctl creates for the service. There is none of this kind: a service without ports may have no Service, one without an endpoint has no route, and one without volumes has no claims. `externalTrafficPolicy` and other fields for connections from outside need a port with `x-expose`.',
  text: (p: { service: string; what: string; hint: string }) => ({
    message: `\`${p.service}\` has no ${p.what} that the fields could be added to`,
    hint: p.hint,
  }),
})

const claimConflict = diagnostic({
  code: 'kubernetes/claim-conflict',
  severity: 'error',
  explain: 'Several services use one volume, which is one claim, and their `x-kubernetes` contradict each other.',
  text: (p: { claim: string }) => ({
    message: `two services add different fields to the claim \`${p.claim}\``,
    hint: 'write the same `claim` in both, or in one of them',
  }),
})

/** The lists of the plan whose objects `x-kubernetes` changes. */
type Pieced = Pick<Plan, 'workloads' | 'services' | 'routes' | 'openRoutes' | 'claims'>

/**
 * Adds the fields of `x-kubernetes` to the plan. Reports invalid fields, and members of `x-kubernetes` for which the
 * plan has no object.
 */
export function addPieces(
  context: PlanContext,
  groups: readonly Group[],
  plan: Pieced,
): Pieced & Pick<Plan, 'serviceAccounts'> {
  if (![...context.project.services.values()].some(({ kubernetes }) => kubernetes))
    return { ...plan, serviceAccounts: [] }
  const { names, reporter } = context
  const serviceAccounts: ServiceAccountPlan[] = []
  const claims = new Map(plan.claims.map(one => [one.name, one]))
  let { services, routes } = plan
  const workloads = new Map(plan.workloads.map(one => [one.service, one]))
  for (const { lead, members } of groups) {
    const key = names.of(lead.name)
    const workload = workloads.get(key)
    if (!workload) continue
    let changed: WorkloadPlan = workload
    for (const service of members) {
      for (const member of ['pod', 'workload', 'claim', 'serviceAccount'] as const) {
        const piece = service.kubernetes?.get(member)
        if (piece && service !== lead && !isSame(piece, lead.kubernetes?.get(member)))
          reporter.report(sharedPod, piece.span, { service: service.name, lead: lead.name, member })
      }
      const container = readMember(context, service, 'container', 'Container')
      if (container) changed = { ...changed, pod: withContainer(changed.pod, names.of(service.name), container.fields) }
      services = addToServices(context, service, services)
      routes = addToRoutes(context, service, { ...plan, routes })
    }
    changed = addToWorkload(context, lead, changed)
    const account = planServiceAccount(context, lead)
    if (account) serviceAccounts.push(account)
    changed = { ...changed, pod: withAccount(changed.pod, account) }
    workloads.set(key, addToClaims(context, lead, changed, claims))
  }
  return {
    workloads: plan.workloads.map(({ service }) => workloads.get(service)!),
    services,
    routes,
    openRoutes: plan.openRoutes,
    claims: [...claims.values()],
    serviceAccounts,
  }
}

type Piece = { readonly tree: Tree }

const isSame = (one: Piece, other: Piece | undefined): boolean =>
  other !== undefined && JSON.stringify(toJson(one.tree)) === JSON.stringify(toJson(other.tree))

/** Reads a member of a service's `x-kubernetes`; undefined if it is absent or in error. */
function readMember(
  { reporter }: PlanContext,
  { name, kubernetes }: Service,
  member: KubernetesMember,
  type: string,
): ReadPiece | undefined {
  const piece = kubernetes?.get(member)
  if (!piece || reportOwned(member, piece.tree, reporter)) return undefined
  return readPiece(piece.tree, type, ['services', name, 'x-kubernetes', member], reporter)
}

/**
 * Returns an object with the labels, annotations and fields of a piece (a member of `x-kubernetes`) added. `type` is
 * the type of the object's spec in the Kubernetes API.
 */
function withPiece<T extends Pick<ObjectPlan, 'annotations' | 'piece'>>(
  context: PlanContext,
  object: T,
  piece: ReadPiece,
  type: string,
): T {
  const { labels, annotations, fields } = piece
  const own = (labels || fields) && {
    type,
    ...((labels || object.piece?.labels) && { labels: { ...object.piece?.labels, ...labels } }),
    ...((fields || object.piece?.spec) && { spec: { ...object.piece?.spec, ...fields } }),
  }
  return {
    ...object,
    ...(annotations && { annotations: addAnnotations(context, object.annotations, annotations) }),
    ...(own && { piece: own satisfies PiecePlan }),
  }
}

/**
 * Returns the annotations of an object (`present`) together with annotations from `x-kubernetes` (`added`), which take
 * precedence. Reports annotations whose total size is too large.
 */
function addAnnotations(
  { reporter }: PlanContext,
  present: Readonly<Record<string, string>> | undefined,
  added: readonly Pair[],
): Readonly<Record<string, string>> {
  checkAnnotationSize(reporter, 'annotations', added, present)
  return { ...present, ...Object.fromEntries(added.map(({ name, value }) => [name, value])) }
}

function addToWorkload(context: PlanContext, lead: Service, workload: WorkloadPlan): WorkloadPlan {
  const pod = readMember(context, lead, 'pod', 'PodSpec')
  const own = readMember(context, lead, 'workload', `${workload.kind}Spec`)
  const changed = own ? withPiece(context, workload, own, `${workload.kind}Spec`) : workload
  if (!pod) return changed
  const { labels, annotations, fields: { serviceAccountName, ...fields } = {} } = pod
  return {
    ...changed,
    pod: {
      ...changed.pod,
      ...(labels && { labels: { ...changed.pod.labels, ...labels } }),
      ...(annotations && { annotations: addAnnotations(context, changed.pod.annotations, annotations) }),
      ...(typeof serviceAccountName === 'string' && { serviceAccount: serviceAccountName }),
      ...(Object.keys(fields).length > 0 && { fields }),
    },
  }
}

const withAccount = (pod: PodPlan, account: ServiceAccountPlan | undefined): PodPlan =>
  account && pod.serviceAccount === undefined ? { ...pod, serviceAccount: account.name } : pod

function withContainer(pod: PodPlan, name: string, fields: ContainerPlan['fields']): PodPlan {
  const change = <T extends ContainerPlan>(one: T): T => (one.name === name && fields ? { ...one, fields } : one)
  return { ...pod, containers: pod.containers.map(change), init: pod.init.map(change) }
}

/** Fields that Kubernetes only accepts for Services with connections from outside. */
const FROM_OUTSIDE = new Set([
  ...['allocateLoadBalancerNodePorts', 'externalTrafficPolicy', 'healthCheckNodePort', 'loadBalancerIP'],
])

function addToServices(
  context: PlanContext,
  service: Service,
  services: readonly ServicePlan[],
): readonly ServicePlan[] {
  const piece = readMember(context, service, 'service', 'ServiceSpec')
  if (!piece) return services
  const name = context.names.of(service.name)
  const isOwn = (one: ServicePlan) => one.service === name && one.externalName === undefined
  const entries = Object.entries(piece.fields ?? {})
  const inside = Object.fromEntries(entries.filter(([key]) => !FROM_OUTSIDE.has(key)))
  const needsExposed = Object.keys(inside).length < entries.length
  if (!services.some(one => isOwn(one) && (one.exposed || !needsExposed)))
    context.reporter.report(noObject, service.kubernetes!.get('service')!.span, {
      service: service.name,
      what: needsExposed ? 'Service for connections from outside' : 'Service',
      hint: needsExposed ? 'add `x-expose` to a port' : 'add `ports` or `expose`',
    })
  return services.map(one => {
    if (!isOwn(one)) return one
    const { fields: _, ...metadata } = piece
    const fields = one.exposed ? piece.fields : Object.keys(inside).length > 0 ? inside : undefined
    return withPiece(context, one, { ...metadata, ...(fields && { fields }) }, 'ServiceSpec')
  })
}

function addToRoutes(
  context: PlanContext,
  service: Service,
  { routes, openRoutes }: Pick<Plan, 'routes' | 'openRoutes'>,
): readonly RoutePlan[] {
  const piece = service.kubernetes?.get('route')
  if (!piece) return routes
  const name = context.names.of(service.name)
  const leadsTo = ({ rules }: RoutePlan) => rules.some(rule => rule.service === name)
  const kinds = new Set([...routes, ...openRoutes].filter(leadsTo).map(({ kind }) => kind))
  if (kinds.size === 0)
    context.reporter.report(noObject, piece.span, {
      service: service.name,
      what: 'route',
      hint: 'add an entry of `endpoints`, or remove `route`',
    })
  const [kind = 'Ingress'] = kinds
  const read = readMember(context, service, 'route', `${kind}Spec`)
  return read ? routes.map(one => (leadsTo(one) ? withPiece(context, one, read, `${kind}Spec`) : one)) : routes
}

/**
 * Adds the fields of `claim` in `x-kubernetes` to the claims that a workload uses. Updates `claims`, which contains the
 * claims that are separate objects, and returns the workload, which contains the other claims.
 */
function addToClaims(
  context: PlanContext,
  lead: Service,
  workload: WorkloadPlan,
  claims: Map<string, Plan['claims'][number]>,
): WorkloadPlan {
  const piece = readMember(context, lead, 'claim', 'PersistentVolumeClaimSpec')
  if (!piece) return workload
  const { reporter } = context
  const { span } = lead.kubernetes!.get('claim')!
  const add = (spec: ClaimSpec) => withPiece(context, spec, piece, 'PersistentVolumeClaimSpec')
  const used = workload.pod.volumes.flatMap(one => (one.kind === 'claim' ? [one.claim] : []))
  for (const name of used) {
    const claim = claims.get(name)
    if (!claim) continue
    const changed = withPiece(context, claim, piece, 'PersistentVolumeClaimSpec')
    if (claim.piece && JSON.stringify(claim.piece) !== JSON.stringify(changed.piece))
      reporter.report(claimConflict, span, { claim: name })
    claims.set(name, changed)
  }
  const templates = workload.kind === 'StatefulSet' ? workload.claimTemplates : []
  const ephemeral = workload.pod.volumes.some(({ kind }) => kind === 'ephemeral')
  if (used.length === 0 && templates.length === 0 && !ephemeral)
    reporter.report(noObject, span, { service: lead.name, what: 'claim', hint: 'add a volume, or remove `claim`' })
  const volumes = workload.pod.volumes.map(one => (one.kind === 'ephemeral' ? { ...one, spec: add(one.spec) } : one))
  const pod = { ...workload.pod, volumes }
  return workload.kind === 'StatefulSet'
    ? { ...workload, pod, claimTemplates: templates.map(add) }
    : { ...workload, pod }
}

function planServiceAccount(context: PlanContext, lead: Service): ServiceAccountPlan | undefined {
  const piece = readMember(context, lead, 'serviceAccount', 'ServiceAccount')
  if (!piece) return undefined
  const { span } = lead.kubernetes!.get('serviceAccount')!
  const name = context.names.of(lead.name)
  return {
    name,
    service: name,
    source: sourceOf(context, span, ['services', lead.name, 'x-kubernetes', 'serviceAccount']),
    span,
    ...(piece.annotations && { annotations: addAnnotations(context, undefined, piece.annotations) }),
    ...(piece.labels && { labels: piece.labels }),
    fields: piece.fields ?? {},
  }
}
