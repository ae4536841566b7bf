import { ApiObject } from 'cdk8s'
import type { Construct } from 'constructs'
import type { Environment, ExternalSecretPlan } from '../compiler/plan/plan.ts'
import { objectMeta } from './labels.ts'

/**
 * Defaults that the API server sets if the fields are missing. Argo CD reports such defaults in list items as drift, so
 * they are always written.
 */
const DEFAULTS = { conversionStrategy: 'Default', decodingStrategy: 'None', metadataPolicy: 'None' }

/**
 * An ExternalSecret, from which the External Secrets operator creates a Secret:
 * https://external-secrets.io/latest/api/externalsecret/
 */
export class ExternalSecret extends ApiObject {
  constructor(
    scope: Construct,
    id: string,
    { plan, environment }: { plan: ExternalSecretPlan; environment: Environment },
  ) {
    super(scope, id, externalSecretJson(plan, environment))
  }
}

/** Returns the JSON of an ExternalSecret, without a chart. The operator's default refresh interval applies. */
export function externalSecretJson(plan: ExternalSecretPlan, environment: Environment) {
  return {
    apiVersion: 'external-secrets.io/v1',
    kind: 'ExternalSecret',
    metadata: objectMeta(plan, environment),
    spec: {
      secretStoreRef: { ...plan.store },
      target: { name: plan.name },
      data: plan.data.map(({ secretKey, remote }) => ({ secretKey, remoteRef: { ...remote, ...DEFAULTS } })),
    },
  }
}
