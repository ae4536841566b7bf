import { mapped } from '../../schema/row.ts'
import { list, object, record, type Shape } from '../../schema/shape.ts'
import * as print from './print.ts'

/**
 * Fields of an object of the Kubernetes API. The table accepts any fields, because the kind of the object is known only
 * in the plan, which checks them.
 */
const fields: Shape = record({ any: true }, { called: 'FIELD' })

/** `x-kubernetes` of a service. */
export const kubernetes: Shape = {
  ...object({
    pod: mapped(fields, 'fields of the Pod'),
    container: mapped(fields, 'fields of the container'),
    workload: mapped(fields, 'fields of the Deployment, StatefulSet, DaemonSet or Job'),
    service: mapped(fields, 'fields of its Services'),
    route: mapped(fields, 'fields of its Ingress or HTTPRoute'),
    claim: mapped(fields, 'fields of its PersistentVolumeClaims'),
    serviceAccount: mapped(fields, 'a ServiceAccount with the name of the service, which the Pod uses'),
  }),
  print: print.asIs,
}

/** The top-level `x-kubernetes`. */
export const kubernetesObjects: Shape = {
  ...object({ objects: mapped(list(fields), 'objects of the environment') }),
  print: print.asIs,
}
