import { ApiObject } from 'cdk8s'
import * as k8s from 'cdk8s-plus-27/lib/imports/k8s.js'
import type { Construct } from 'constructs'
import type { ClaimPlan, ConfigMapPlan, Environment, SecretPlan } from '../compiler/plan/plan.ts'
import { objectMeta } from './labels.ts'
import { toClaimSpec } from './pod/volumes.ts'

/** A volume that outlives the Pods that mount it. */
export class VolumeClaim extends k8s.KubePersistentVolumeClaim {
  constructor(scope: Construct, id: string, { plan, environment }: { plan: ClaimPlan; environment: Environment }) {
    super(scope, id, claimProps(plan, environment))
  }
}

/** Returns the JSON of a claim, without a chart. */
export function claimJson(plan: ClaimPlan, environment: Environment): object {
  return k8s.KubePersistentVolumeClaim.manifest(claimProps(plan, environment))
}

function claimProps(plan: ClaimPlan, environment: Environment): k8s.KubePersistentVolumeClaimProps {
  const annotations = { ...plan.spec.annotations, ...plan.annotations }
  return { metadata: objectMeta({ ...plan, annotations }, environment), spec: toClaimSpec(plan.spec) }
}

/**
 * A ConfigMap with files that Pods mount. Files that are not plain text go to `binaryData`. The typed class is not
 * used, because its renderer copies the full map for each key, which took two seconds for 4,000 files. The same applies
 * to Secrets.
 */
export class FileConfigMap extends ApiObject {
  constructor(scope: Construct, id: string, { plan, environment }: { plan: ConfigMapPlan; environment: Environment }) {
    super(scope, id, configMapJson(plan, environment))
  }
}

/** Returns the JSON of a ConfigMap, without a chart. */
export function configMapJson(plan: ConfigMapPlan, environment: Environment) {
  const data: Record<string, string> = {}
  const binaryData: Record<string, string> = {}
  for (const [key, bytes] of Object.entries(plan.data)) {
    const text = plainText(bytes)
    if (text === undefined) binaryData[key] = base64(bytes)
    else data[key] = text
  }
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: objectMeta(plan, environment),
    data: nonEmpty(data),
    binaryData: nonEmpty(binaryData),
  }
}

/** A Secret with files that Pods mount and that other users should not see. */
export class FileSecret extends ApiObject {
  constructor(scope: Construct, id: string, { plan, environment }: { plan: SecretPlan; environment: Environment }) {
    super(scope, id, secretJson(plan, environment))
  }
}

/** Returns the JSON of a Secret, without a chart. */
export function secretJson(plan: SecretPlan, environment: Environment) {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: objectMeta(plan, environment),
    type: plan.type,
    data: nonEmpty(Object.fromEntries(Object.entries(plan.data).map(([key, bytes]) => [key, base64(bytes)]))),
  }
}

/**
 * Returns the text of a file. Returns undefined if a text editor could not have written the file or YAML cannot
 * represent it: if it is not UTF-8, or contains a byte order mark or control characters other than tab and line feed.
 * Carriage returns are refused, too, because a YAML parser may read them as line feeds.
 */
function plainText(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return /[^\P{Cc}\t\n]|\uFEFF/u.test(text) ? undefined : text
  } catch {
    return undefined
  }
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}

function nonEmpty(map: Record<string, string>): Record<string, string> | undefined {
  return Object.keys(map).length ? map : undefined
}
