import { fileURLToPath } from 'node:url'
import { App, Chart, JsonPatch } from 'cdk8s'
import { k8s } from 'cdk8s-plus-27'
import { ComposeApplication } from 'devctl/constructs'

class Shop extends Chart {
  constructor(scope, id, props) {
    super(scope, id, props)

    // Everything that compose.yaml describes, as `devctl render` would write it, in this chart's namespace.
    const shop = new ComposeApplication(this, 'application', {
      file: fileURLToPath(new URL('compose.yaml', import.meta.url)),
      domain: 'dev.example.com',
    })
    if (shop.report) console.warn(shop.report)

    // What Compose has no word for: an autoscaler for one of its services …
    const api = shop.workload('api')
    new k8s.KubeHorizontalPodAutoscalerV2(this, 'api-autoscaler', {
      metadata: { name: 'api' },
      spec: {
        scaleTargetRef: { apiVersion: api.apiVersion, kind: api.kind, name: api.name },
        minReplicas: 2,
        maxReplicas: 10,
        metrics: [
          { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } } },
        ],
      },
    })

    // … an object of one's own …
    new k8s.KubeConfigMap(this, 'flags', { metadata: { name: 'flags' }, data: { 'new-checkout': 'true' } })

    // … and a field that the Compose file cannot set.
    shop.workload('db').addJsonPatch(JsonPatch.add('/spec/podManagementPolicy', 'Parallel'))
  }
}

const app = new App()
new Shop(app, 'shop', { namespace: 'shop' })
app.synth()
