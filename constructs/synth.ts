import { ApiObject, App, Chart } from 'cdk8s'
import type { Plan } from '../compiler/plan/plan.ts'
import { Application } from './application.ts'
import { inReadingOrder } from './key-order.ts'
import type { KubernetesObject, Manifest } from './manifest.ts'

/**
 * The objects of a plan in the order in which they should be applied. The only place with an App. `toJson` writes no files, unlike
 * `app.synth()`, and one chart for all is linear in their number, unlike a chart for each service.
 */
export function synth(plan: Plan): Manifest[] {
  const chart = new Chart(new App(), 'chart', { disableResourceNameHashes: true })
  const application = new Application(chart, 'application', plan)
  const objects = application.node.findAll().filter(ApiObject.isApiObject)
  const rendered = chart.toJson()
  return objects.map((object, index) => {
    const json = rendered[index]
    // Without dependencies between them, the chart renders its objects in the order of their making.
    if (json?.kind !== object.kind || json.metadata.name !== object.name)
      throw new Error(`${object.node.path} is out of order`)
    const { source, service } = application.sourceOf(object)
    // The typed classes render what a Kubernetes object is: apiVersion, kind, metadata and more.
    return { source, folder: service ?? '_shared', object: inReadingOrder(json) as KubernetesObject }
  })
}
