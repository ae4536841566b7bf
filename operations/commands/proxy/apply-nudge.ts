import type { IncomingMessage } from 'node:http'
import { ENVIRONMENT_LABEL } from '../labels.ts'
import { parseApiPath } from './api-path.ts'
import { parseExact, printExact } from './exact-json.ts'
import { isFields, labelsOf } from './label-object.ts'

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/**
 * Makes `kubectl apply` write an object that is as it should be but for our label. It looks at the
 * object first and sends nothing when nothing differs, so it is shown that the annotation it
 * keeps for itself has a blank at its end: it sends a patch with that annotation, and the label
 * goes with it. Nothing is written behind its back, so `--dry-run` stays one.
 */
export class ApplyNudge {
  isFor({ method, url = '', headers }: IncomingMessage): boolean {
    if (method !== 'GET' || headers['kubectl-command'] !== 'kubectl apply' || url.includes('?')) return false
    const path = parseApiPath(url)
    // Cluster-scoped objects are not claimed.
    return path?.name !== undefined && path.namespace !== undefined && path.subresource === undefined
  }

  /** The answer to such a request. */
  change(body: Buffer): Buffer {
    let object: unknown
    try {
      object = parseExact(body.toString('utf8'))
    } catch {
      return body
    }
    if (!isFields(object) || !isFields(object['metadata']) || labelsOf(object)[ENVIRONMENT_LABEL]) return body
    const { metadata } = object
    const annotations = isFields(metadata['annotations']) ? metadata['annotations'] : {}
    const last = annotations[LAST_APPLIED]
    if (typeof last !== 'string') return body
    return Buffer.from(
      printExact({ ...object, metadata: { ...metadata, annotations: { ...annotations, [LAST_APPLIED]: `${last} ` } } }),
    )
  }
}
