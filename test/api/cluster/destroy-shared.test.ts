import { afterAll, describe, expect, test } from 'vitest'
import { findCluster } from '../../support/cluster/cluster.ts'
import { playPods } from '../../support/cluster/play-pods.ts'
import { type Project, withProject } from '../../support/cluster/project.ts'
import { TAKES_ALL } from '../../support/takes-all.ts'

const cluster = findCluster()

const definition = (group: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `gadgets.${group}` },
  spec: {
    group,
    names: { kind: 'Gadget', plural: 'gadgets', singular: 'gadget' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
})

const gadget = (group: string, name: string) => ({ apiVersion: `${group}/v1`, kind: 'Gadget', metadata: { name } })

/** Writes a project whose commands create cluster-scoped objects, and an object in each of them. */
function write({ name, write }: Project, group: string): void {
  write('definition.json', JSON.stringify(definition(group)))
  write('gadget.json', JSON.stringify(gadget(group, 'mine')))
  write(
    'devctl.yml',
    `deploy:
  commands:
    - kubectl apply -f definition.json && kubectl wait --for=condition=Established crd/gadgets.${group}
    - kubectl create namespace ${name}-tools
    - kubectl apply -f gadget.json && kubectl create configmap mine --namespace ${name}-tools
  compose: compose.yaml
`,
  )
  write(
    'compose.yaml',
    'services:\n  web:\n    image: busybox:1.37\n    command: [sleep, "3600"]\n    stop_grace_period: 0s\n',
  )
}

interface Shared {
  readonly project: Project
  readonly group: string
  /** The definition and the namespace, as `customresourcedefinition/NAME` and `namespace/NAME`. */
  readonly crd: string
  readonly tools: string
  /** Runs kubectl without a namespace. */
  all(...args: readonly string[]): Promise<string>
  /** Returns those of the two objects that exist. */
  there(): Promise<readonly string[]>
}

/** Declares a test of a deployed project, with all objects that its commands create. */
const it = (name: string, body: (shared: Shared) => Promise<void>) =>
  test.concurrent(name, () =>
    withProject(cluster!, async project => {
      const group = `${project.name}.example.com`
      const [crd, tools] = [`customresourcedefinition/gadgets.${group}`, `namespace/${project.name}-tools`]
      const all = (...args: readonly string[]) => cluster!.kubectl(...args)
      const there = async () =>
        (await all('get', crd, tools, '--ignore-not-found', '--output=name')).split('\n').filter(line => line !== '')
      write(project, group)
      try {
        const { status, stderr } = await project.devctl('deploy')
        expect(status, stderr).toBe(0)
        await body({ project, group, crd, tools, all, there })
      } finally {
        await all('delete', '--ignore-not-found', '--wait=false', crd, tools)
      }
    }),
  )

describe.skipIf(cluster === undefined)('destroy of cluster-scoped objects of commands', () => {
  playPods()
  afterAll(() => cluster?.close())

  /** Checks that destroy without --yes lists what would be deleted, and deletes nothing. */
  async function expectRefused({ project, group, crd, tools }: Shared): Promise<void> {
    const refused = await project.devctl('destroy')
    expect(refused.status, refused.stderr).toBe(1)
    expect(refused.stderr).toContain('created cluster-scoped objects, which would be deleted')
    expect(refused.stderr).toContain(crd)
    expect(refused.stderr).toContain(tools)
    expect(refused.stderr).toContain('add `--yes`')
    expect((await project.get('deployment/web')).metadata.name).toBe('web')
    expect((await project.get(`gadgets.${group}/mine`)).metadata.name).toBe('mine')
  }

  if (TAKES_ALL)
    it('destroy lists cluster-scoped objects and refuses, and deletes them with --yes', async shared => {
      const { project, there } = shared
      await expectRefused(shared)
      const taken = await project.devctl('destroy', '--yes', '--wait')
      expect(taken.status, taken.stderr).toBe(0)
      expect(taken.stderr).not.toContain('kept')
      expect(await there()).toEqual([])
    })

  it('destroy --yes keeps cluster-scoped objects while they contain objects of others', async shared => {
    const { project, group, crd, tools, all, there } = shared
    await expectRefused(shared)
    const { devctl, name } = project
    await all('create', 'configmap', 'theirs', '--namespace', `${name}-tools`)
    project.write('theirs.json', JSON.stringify(gadget(group, 'theirs')))
    await all('apply', '--namespace', 'default', '--filename', `${project.directory}/theirs.json`)
    const kept = await devctl('destroy', '--yes', '--wait')
    expect(kept.status, kept.stderr).toBe(0)
    expect(kept.stderr).toContain(
      `kept ${tools}: it contains configmap/theirs in ${name}-tools, which would be deleted with it`,
    )
    expect(kept.stderr).toContain(`kept ${crd}: it contains gadget/theirs in default, which would be deleted with it`)
    expect(await project.kubectl('get', `deployments.apps,gadgets.${group}`, '--output=name')).toBe('')
    expect(await there()).toHaveLength(2)
    expect(await all('get', `gadgets.${group}/theirs`, '--namespace', 'default', '--output=name')).toContain('theirs')

    await all('delete', `gadgets.${group}/theirs`, '--namespace', 'default')
    await all('delete', 'configmap/theirs', '--namespace', `${name}-tools`)
    const taken = await devctl('destroy', '--yes', '--wait')
    expect(taken.status, taken.stderr).toBe(0)
    expect(taken.stderr).not.toContain('kept')
    expect(await there()).toEqual([])
    expect((await devctl('destroy')).stderr).toContain('nothing to destroy for')
  })

  if (TAKES_ALL)
    it('destroy continues when the definition is already deleted', async ({ project, crd, all }) => {
      await all('delete', crd)
      const { status, stderr } = await project.devctl('destroy', '--yes')
      expect(status, stderr).toBe(0)
      expect(await project.kubectl('get', 'deployments', '--output=name')).toBe('')
    })
})
