import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { kubeconfigAccess } from '../../../adapters/kubernetes/connection.ts'
import { connect } from '../../../adapters/kubernetes/kube-cluster.ts'
import {
  type LabellingProxy,
  startLabellingProxy,
} from '../../../adapters/kubernetes/labelling-proxy/labelling-proxy.ts'
import { listHelmReleases, listTemplateClaims, uninstallCommand } from '../../../commands/helm-releases.ts'
import { type ManifestCommand, runCommands } from '../../../commands/run-commands.ts'
import { findCluster } from '../../support/cluster/cluster.ts'
import { few, longTest, TAKES_ALL } from '../../support/takes-all.ts'

const cluster = findCluster()
const namespace = `devctl-labelling-${process.pid}`
const kind = `Widget${process.pid}`
const plural = `${kind.toLowerCase()}s`
const label = { 'dev.platform/environment': 'shop' }
const work = mkdtempSync(join(tmpdir(), 'devctl-labelling-'))
const env = {
  ...process.env,
  PATH: `${join(dirname(process.env.KUBECONFIG ?? '/'), 'bin')}${delimiter}${process.env.PATH}`,
}

let proxy: LabellingProxy
const said: string[] = []

/** Runs a command of a deploy section, and returns its lines. Throws if it fails, or with `fails` if it does not. */
async function command(one: string | ManifestCommand, { fails = false } = {}): Promise<readonly string[]> {
  const whole = typeof one === 'string' ? { name: one, command: one } : one
  const lines: string[] = []
  const { failed } = await runCommands([whole], {
    folder: work,
    env: { ...env, ...proxy.variables },
    signal: AbortSignal.timeout(120_000),
    output: ({ text }) => lines.push(text),
  })
  said.push(...lines)
  if ((failed !== undefined) !== fails) throw new Error(`${whole.name}: ${lines.join('\n')}`)
  return lines
}

/** Returns an object as the real server has it. */
async function live(path: string): Promise<KubeObject> {
  return cluster!.get<KubeObject>(path)
}

const core = (resource: string, name: string) => `/api/v1/namespaces/${namespace}/${resource}/${name}`
const apps = (resource: string, name: string) => `/apis/apps/v1/namespaces/${namespace}/${resource}/${name}`

async function expectLabelled(path: string): Promise<KubeObject> {
  const object = await live(path)
  expect(object.metadata.labels, path).toMatchObject(label)
  expect(object.metadata.annotations, path).toMatchObject({ 'dev.platform/origin': 'command' })
  return object
}

function file(name: string, text: string): string {
  mkdirSync(dirname(join(work, name)), { recursive: true })
  writeFileSync(join(work, name), text)
  return name
}

const deployment = (name: string, image = 'nginx:alpine') => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}}
spec:
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: main, image: "${image}", ports: [{containerPort: 80}]}]
`
const templateLabels = ({ spec }: KubeObject) =>
  (spec as { template: { metadata: { labels: Record<string, string> } } }).template.metadata.labels

describe.skipIf(cluster === undefined)('commands of a deploy section', () => {
  beforeAll(async () => {
    await cluster!.createNamespace(namespace)
    const access = await kubeconfigAccess(undefined, process.env)
    proxy = await startLabellingProxy({ access, environment: 'shop', namespace })
  })
  afterAll(async () => {
    await proxy?.close()
    await cluster?.send(
      'DELETE',
      `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.devctl.example.com`,
    )
    await cluster?.deleteNamespace(namespace)
    cluster?.close()
    rmSync(work, { recursive: true, force: true })
  })

  longTest('kubectl create labels its objects, including a ConfigMap of 900 kB', async () => {
    writeFileSync(join(work, 'large'), 'ü'.repeat(450_000))
    await command(
      'kubectl create configmap large --from-file=large && kubectl create secret generic s --from-literal=a=b',
    )
    const { data } = await expectLabelled(core('configmaps', 'large'))
    expect(data).toEqual({ large: 'ü'.repeat(450_000) })
    await expectLabelled(core('secrets', 's'))
  })

  test('kubectl apply labels an object when it is created, unchanged and changed', async () => {
    file('web.yaml', deployment('web').replace('{name: web}', '{name: web, labels: {a: b}}'))
    expect(await command('kubectl apply -f web.yaml')).toEqual(['deployment.apps/web created'])
    const first = await expectLabelled(apps('deployments', 'web'))
    expect(templateLabels(first)).toEqual({ app: 'web', ...label })
    expect((first['spec'] as { selector: unknown }).selector).toEqual({ matchLabels: { app: 'web' } })
    expect(await command('kubectl apply -f web.yaml')).toEqual(['deployment.apps/web unchanged'])
    file('web.yaml', deployment('web'))
    expect(await command('kubectl diff -f web.yaml; kubectl apply -f web.yaml')).toContain(
      'deployment.apps/web configured',
    )
    expect((await expectLabelled(apps('deployments', 'web'))).metadata.labels).toEqual(label)
  })

  longTest('kubectl apply labels an existing object without a label, and a dry run does not', async () => {
    file('old.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: old}\ndata: {a: b}\n')
    const kubeconfig = process.env.KUBECONFIG
    await command(`kubectl --kubeconfig '${kubeconfig}' -n ${namespace} apply -f old.yaml`)
    await command(
      'kubectl apply --dry-run=server -f old.yaml; kubectl apply --dry-run=client -f old.yaml; kubectl diff -f old.yaml',
    )
    expect((await live(core('configmaps', 'old'))).metadata.labels).toBeUndefined()
    expect(await command('kubectl apply -f old.yaml')).toEqual(['configmap/old configured'])
    const object = await expectLabelled(core('configmaps', 'old'))
    expect(object.metadata.annotations!['kubectl.kubernetes.io/last-applied-configuration']).toMatch(/\}\n$/)
    expect(await command('kubectl apply -f old.yaml')).toEqual(['configmap/old unchanged'])
  })

  longTest('kubectl apply --server-side labels an object, and a repetition changes nothing', async () => {
    // A controller that writes the status meanwhile also causes a difference.
    file('ssa.yaml', deployment('ssa').replace('spec:', 'spec:\n  replicas: 0'))
    await command('kubectl apply --server-side -f ssa.yaml')
    const { metadata } = await expectLabelled(apps('deployments', 'ssa'))
    await command('kubectl wait deployment/ssa --for condition=Available --timeout 180s')
    await command('kubectl apply --server-side -f ssa.yaml && kubectl diff --server-side -f ssa.yaml')
    expect((await live(apps('deployments', 'ssa'))).metadata.generation).toBe(metadata.generation)
  })

  longTest('kubectl replace, patch, label, scale and edit keep the labels', async () => {
    file('r.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: r}\ndata: {a: "1"}\n')
    await command('kubectl create -f r.yaml && kubectl replace -f r.yaml && kubectl label configmap r x=y')
    await command(
      `kubectl patch configmap r -p '{"data":{"a":"2"}}' && kubectl patch configmap r --type json -p '[{"op":"add","path":"/data/b","value":"3"}]'`,
    )
    file('editor', `sed -i 's/b: "3"/b: "4"/' "$1"`)
    await command('KUBE_EDITOR="sh editor" kubectl edit configmap r && kubectl scale deployment ssa --replicas 1')
    const object = await expectLabelled(core('configmaps', 'r'))
    expect(object['data']).toEqual({ a: '2', b: '4' })
    expect(object.metadata.labels).toEqual({ ...label, x: 'y' })
  })

  longTest('kubectl apply labels a CRD, a custom resource, a List and a kustomization', async () => {
    file(
      'crd.yaml',
      `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ${plural}.devctl.example.com}
spec:
  group: devctl.example.com
  scope: Namespaced
  names: {plural: ${plural}, singular: ${kind.toLowerCase()}, kind: ${kind}}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`,
    )
    file(
      'cr.yaml',
      `apiVersion: devctl.example.com/v1\nkind: ${kind}\nmetadata: {name: a}\nspec: {big: 9007199254740993}\n`,
    )
    await command(
      `kubectl apply -f crd.yaml && kubectl wait --for condition=Established crd/${plural}.devctl.example.com && kubectl apply -f cr.yaml && kubectl apply -f crd.yaml`,
    )
    const home = { ...label, 'dev.platform/environment-namespace': namespace }
    const definition = await live(
      `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.devctl.example.com`,
    )
    expect(definition.metadata.labels).toEqual(home)
    await expectLabelled(`/apis/devctl.example.com/v1/namespaces/${namespace}/${plural}/a`)
    expect((await command(`kubectl get ${plural} a -o jsonpath={.spec.big}`)).join()).toBe('9007199254740993')

    const item = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
    file('list.json', JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [item('one'), item('two')] }))
    file(
      'k/kustomization.yaml',
      'configMapGenerator: [{name: generated, literals: [a=b], options: {disableNameSuffixHash: true}}]\n',
    )
    await command('kubectl apply -f list.json && kubectl apply -k k')
    for (const name of ['one', 'two', 'generated']) await expectLabelled(core('configmaps', name))
    expect(proxy.written()).toContainEqual({ apiVersion: 'devctl.example.com/v1', kind })
    expect(proxy.written()).toContainEqual({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      namespace: null,
    })
  })

  test('kubectl cannot change an object of another environment', async () => {
    const body = { metadata: { name: 'theirs', labels: { 'dev.platform/environment': 'blog' } } }
    await cluster!.send('POST', `/api/v1/namespaces/${namespace}/configmaps`, body)
    file('theirs.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: theirs}\ndata: {a: b}\n')
    for (const how of few(['apply', 'apply --server-side', 'replace']))
      expect((await command(`kubectl ${how} -f theirs.yaml`, { fails: true })).join('\n')).toContain(
        'belongs to environment `blog`',
      )
    expect(await live(core('configmaps', 'theirs'))).not.toHaveProperty('data')
  })

  longTest('kubectl run, wait, exec, cp, port-forward, logs -f and attach work through the proxy', async () => {
    // An earlier attempt may have left the Pod.
    await command('kubectl delete pod box --ignore-not-found --now')
    await command(
      'kubectl run box --image nginx:alpine --labels app=box && kubectl wait --for condition=Ready pod/box --timeout 90s',
    )
    await expectLabelled(core('pods', 'box'))
    expect(await command('kubectl exec box -- sh -c "echo out; echo err >&2; exit 7"; echo "status $?"')).toEqual(
      expect.arrayContaining(['out', 'err', 'status 7']),
    )
    expect(await command('echo through | kubectl exec -i box -- cat')).toEqual(['through'])
    expect(await command('KUBECTL_REMOTE_COMMAND_WEBSOCKETS=false kubectl exec box -- echo spdy')).toEqual(['spdy'])
    await command(
      'head -c 2000000 /dev/urandom > blob && kubectl cp blob box:/tmp/blob && kubectl cp box:/tmp/blob back && cmp blob back',
    )
    for (const websockets of few([true, false])) {
      const lines = await command(`
        export KUBECTL_PORT_FORWARD_WEBSOCKETS=${websockets}
        rm -f forward.log; touch forward.log
        kubectl port-forward pod/box :80 >> forward.log & forward=$!
        until grep -q 'Forwarding from 127' forward.log; do sleep 0.1; kill -0 $forward || exit 1; done
        port=$(sed -n 's/Forwarding from 127.0.0.1:\\([0-9]*\\).*/\\1/p' forward.log)
        get() { curl -sS --retry 9 --retry-all-errors --retry-delay 1 http://127.0.0.1:$port; }
        get && get
        kill $forward`)
      // The page contains the text twice.
      expect(lines.join('\n').split('Welcome to nginx!').length - 1).toBe(4)
    }
    const followed = await command(
      'kubectl logs -f box > follow.log & logs=$!; kubectl exec box -- sh -c "echo a-new-line > /proc/1/fd/1"; for i in $(seq 100); do grep a-new-line follow.log && break; sleep 0.1; done; kill $logs',
    )
    expect(followed).toContain('a-new-line')
    expect(
      // The program writes after the time that attaching takes.
      await command(
        'kubectl run once --image busybox --rm -i --restart Never --quiet -- sh -c "sleep 5; echo attached"',
      ),
    ).toContain('attached')
    await command('kubectl delete pod box --grace-period 1')
  })

  test('helm install, upgrade and uninstall work, and all objects of a release are labeled', async () => {
    file('chart/Chart.yaml', 'apiVersion: v2\nname: chart\nversion: 0.1.0\n')
    file('chart/charts/sub/Chart.yaml', 'apiVersion: v2\nname: sub\nversion: 0.1.0\n')
    file('chart/charts/sub/templates/c.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: rel-sub}\n')
    file('chart/templates/d.yaml', deployment('rel').replace('spec:', 'spec:\n  replicas: {{ .Values.n | default 0 }}'))
    const job = (name: string, annotations: string) => `
apiVersion: batch/v1
kind: Job
metadata: {name: ${name}, annotations: {${annotations}}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: busybox, command: ["true"]}]}}}
`
    file('chart/templates/j.yaml', `${job('rel-job', '')}---${job('rel-hook', 'helm.sh/hook: pre-install')}`)
    file(
      'chart/templates/s.yaml',
      `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: rel-db}
spec:
  replicas: 0
  serviceName: rel-db
  selector: {matchLabels: {app: db}}
  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: main, image: busybox}]}}
  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}}]
`,
    )
    const wait = '--wait --timeout 150s'
    await command(`helm install rel chart ${wait}`)
    expect(templateLabels(await expectLabelled(apps('deployments', 'rel')))).toEqual({ app: 'rel', ...label })
    const jobs = `/apis/batch/v1/namespaces/${namespace}/jobs`
    expect(templateLabels(await expectLabelled(`${jobs}/rel-job`))).toMatchObject(label)
    await expectLabelled(`${jobs}/rel-hook`)
    await expectLabelled(core('configmaps', 'rel-sub'))
    await expectLabelled(apps('statefulsets', 'rel-db'))

    const more = ` --set n=1 ${wait} && helm upgrade rel chart --set n=1 && helm rollback rel 1 && helm test rel`
    await command(`helm upgrade rel chart${TAKES_ALL ? more : ''}`)
    expect((await expectLabelled(apps('deployments', 'rel')))['spec']).toMatchObject({ replicas: 0 })
    for (const revision of few([1, 2, 3, 4], 2))
      await expectLabelled(core('secrets', `sh.helm.release.v1.rel.v${revision}`))

    const real = await connect({ env: process.env })
    expect(await listHelmReleases(real, 'shop', namespace)).toEqual(['rel'])
    expect(await listHelmReleases(real, 'blog', namespace)).toEqual([])
    const claim = {
      metadata: { name: 'data-rel-db-0' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } },
    }
    await cluster!.send('POST', `/api/v1/namespaces/${namespace}/persistentvolumeclaims`, claim)
    expect(await listTemplateClaims(real, 'shop', namespace)).toEqual(['data-rel-db-0'])
    expect(await command(uninstallCommand(['rel', 'gone'], namespace))).toContain('release "rel" uninstalled')
    expect(await listHelmReleases(real, 'shop', namespace)).toEqual([])
  })

  longTest('kubectl reports the same server errors with and without the proxy', async () => {
    const direct = `kubectl --kubeconfig '${process.env.KUBECONFIG}' -n ${namespace}`
    for (const words of [
      'get configmap nope',
      'create configmap old',
      'get nothings',
      'delete pod nope',
      'apply -f bad.yaml',
    ]) {
      file('bad.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bad}\ndata: {a: 1}\n')
      expect(await command(`kubectl ${words}`, { fails: true })).toEqual(
        await command(`${direct} ${words}`, { fails: true }),
      )
    }
  })

  test('the output of the commands contains neither the token nor credentials', () => {
    expect(said.length).toBeGreaterThan(0)
    for (const secret of proxy.secrets) expect(said.join('\n')).not.toContain(secret)
  })
})
