import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import type { KubernetesObject } from '../../../constructs/manifest.ts'
import { type Cluster, eventually } from './cluster.ts'

const MODULE = 'sigs.k8s.io/gateway-api@v1.3.0'
const FILE = 'config/crd/standard/gateway.networking.k8s.io_httproutes.yaml'

/**
 * Installs the published custom resource of HTTPRoute, which Go's module cache or proxy has. False where there is no
 * Go: then it cannot be had.
 */
export async function installHttpRoute(cluster: Cluster): Promise<boolean> {
  let folder: string
  try {
    const output = execFileSync('go', ['mod', 'download', '-json', MODULE], {
      encoding: 'utf8',
      timeout: 90_000,
      cwd: '/',
    })
    folder = JSON.parse(output).Dir
  } catch {
    console.warn(`${MODULE} cannot be fetched (is there a Go on the PATH?): HTTPRoutes are not checked`)
    return false
  }
  const definition = parse(readFileSync(join(folder, FILE), 'utf8')) as KubernetesObject
  const { status, body } = await cluster.apply(definition, undefined)
  if (status > 201) throw new Error(`the custom resource of HTTPRoute: ${body}`)
  await eventually('HTTPRoute is served', async () => {
    const { status } = await cluster.send('GET', '/apis/gateway.networking.k8s.io/v1/httproutes')
    return status === 200 || undefined
  })
  return true
}
