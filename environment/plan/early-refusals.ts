import type { CallOptions, Cluster } from '../../adapters/kubernetes/cluster.ts'
import type { Deployment } from '../apply/deploy.ts'
import { isEnding } from '../apply/removal.ts'
import { unlessForbidden } from '../forbidden.ts'
import { ENVIRONMENT_LABEL } from '../labels.ts'
import { inParallel } from '../pool.ts'
import { readRecord } from '../record/record.ts'
import { refuseOtherSource } from './changes.ts'
import type { Choices } from './choices.ts'
import { allOf, type DesiredObject, type DesiredState, toDesiredState } from './desired-state.ts'
import { refuseEndingNamespace } from './namespace.ts'
import { refuseForeign, unknownKind } from './refusals.ts'

/** Deployment whose images have not been built yet. */
export interface EarlyDeployment extends Deployment {
  /** True if commands or other deploys run before this one. They may install the kinds of the objects to deploy. */
  readonly hasMoreBefore: boolean
}

/**
 * Throws a UserError for anything that the deploy would reject regardless of the images, to avoid a useless build. The
 * deploy checks again, because others may change the cluster in the meantime.
 */
export async function refuseEarly(deployment: EarlyDeployment, options: CallOptions): Promise<void> {
  const { cluster, plan, synth, namespace, source, choices, hasMoreBefore } = deployment
  const environment = plan.environment.name
  const [recorded] = await Promise.all([
    readRecord(cluster, environment, namespace, options),
    refuseEndingNamespace(cluster, namespace, options),
  ])
  refuseOtherSource(environment, recorded?.source, source, choices)
  const wanted = toDesiredState(plan, synth(plan), namespace)
  if (!hasMoreBefore) await refuseUnknownKinds(cluster, allOf(wanted), options)
  await refuseTaken(cluster, wanted, choices, options)
}

async function refuseUnknownKinds(
  cluster: Cluster,
  objects: readonly DesiredObject[],
  options: CallOptions,
): Promise<void> {
  const byKind = new Map(objects.map(one => [`${one.object.apiVersion} ${one.object.kind}`, one]))
  await inParallel([...byKind.values()], async one => {
    const { apiVersion, kind } = one.object
    if (!(await cluster.resource(apiVersion, kind, options))) throw unknownKind(one)
  })
}

/** Throws a UserError for the first object whose name is already used by an object outside the environment. */
async function refuseTaken(
  cluster: Cluster,
  wanted: DesiredState,
  choices: Choices,
  options: CallOptions,
): Promise<void> {
  const objects = allOf(wanted)
  const found = await inParallel(objects, ({ object: { apiVersion, kind, metadata } }) => {
    const ref = { apiVersion, kind, name: metadata.name, namespace: metadata.namespace }
    return unlessForbidden(cluster.get(ref, options), undefined)
  })
  for (const [at, one] of objects.entries()) {
    const there = found[at]
    const isFree = !there || isEnding(there) || there.metadata.labels?.[ENVIRONMENT_LABEL] === wanted.environment
    if (!isFree) refuseForeign(one, there, choices)
  }
}
