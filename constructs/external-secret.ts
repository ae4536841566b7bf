import { ApiObject } from 'cdk8s'
import type { Construct } from 'constructs'
import type { Environment, ExternalSecretPlan } from '../compiler/plan/plan.ts'
import { objectMeta } from './labels.ts'

/**
 * The API server fills these in where they are left out, and Argo CD takes for drift what it fills
 * into the items of a list.
 */
const DEFAULTS = { conversionStrategy: 'Default', decodingStrategy: 'None', metadataPolicy: 'None' }

/**
 * An ExternalSecret, from which the External Secrets operator makes a Secret:
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

/**
 * The JSON of an ExternalSecret, without a chart around it. How often it is asked for is left to
 * the operator.
 */
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
