import type { IncomingMessage } from 'node:http'
import { parseApiPath } from './api-path.ts'
import { parseExact, printExact } from './exact-json.ts'
import { isFields, labelsOf } from './label-object.ts'
import { ENVIRONMENT_LABEL } from './labels.ts'

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/**
 * Makes `kubectl apply` write an object that differs only by our label. kubectl reads the object first and sends
 * nothing if nothing differs. The proxy therefore adds a trailing blank to the last-applied annotation in the response:
 * kubectl then sends a patch with that annotation, to which the proxy adds the label. The proxy itself writes nothing,
 * so `--dry-run` stays a dry run.
 */
export class ApplyNudge {
  isFor({ method, url = '', headers }: IncomingMessage): boolean {
    if (method !== 'GET' || headers['kubectl-command'] !== 'kubectl apply' || url.includes('?')) return false
    const path = parseApiPath(url)
    // Existing cluster-scoped objects are not adopted.
    return path?.name !== undefined && path.namespace !== undefined && path.subresource === undefined
  }

  /**
   * Returns the changed response body if the object has the last-applied annotation, but not our label. Returns any
   * other body unchanged.
   */
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
