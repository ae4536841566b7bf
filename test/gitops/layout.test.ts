import { describe, expect, test } from 'vitest'
import type { Manifest } from '../../constructs/manifest.ts'
import { printStream } from '../../constructs/yaml.ts'
import { layout } from '../../operations/gitops/layout/layout.ts'
import { type About, readme } from '../../operations/gitops/layout/readme.ts'
import { kustomization, toFiles } from '../../operations/gitops/tree/files.ts'

const object = (kind: string, name: string) => ({ apiVersion: 'v1', kind, metadata: { name } })

const manifests: readonly Manifest[] = [
  { source: 'compose.yaml#configs.site', folder: '_shared', object: object('ConfigMap', 'site') },
  { source: 'compose.yaml#services.web', folder: 'web', object: object('Service', 'web') },
  { source: 'compose.yaml#services.api', folder: 'api', object: object('Service', 'api') },
]

const about: About = {
  application: 'shop',
  environment: 'staging',
  options: ['--environment', 'staging'],
  sourceRepository: 'https://git.example.com/team/shop.git',
  sources: ['compose.yaml', 'compose.staging.yaml'],
}

describe('a layout', () => {
  test('plain has a file for each object, a kustomization that lists them and a README', () => {
    const files = layout(manifests, { layout: 'plain', about })
    const objects = toFiles(manifests, 'kustomize')
    expect(Object.fromEntries(files)).toEqual({
      ...Object.fromEntries(objects),
      'kustomization.yaml': kustomization(objects.keys()),
      'README.md': readme(about, 'plain'),
    })
    expect([...files.keys()]).toEqual([...files.keys()].sort())
  })

  test('single-file has all documents in the order in which they are applied', () => {
    expect(Object.fromEntries(layout(manifests, { layout: 'single-file', about }))).toEqual({
      'manifests.yaml': printStream(manifests),
      'kustomization.yaml': kustomization(['manifests.yaml']),
      'README.md': readme(about, 'single-file'),
    })
  })

  test('kustomize has the overlay over a base', () => {
    const files = layout(manifests, { layout: 'kustomize', base: manifests.slice(0, 2), basePath: '../base', about })
    expect(Object.fromEntries(files)).toEqual({
      'api/service-api.yaml': expect.stringContaining('name: api'),
      'kustomization.yaml': kustomization(['../base', 'api/service-api.yaml']),
      'README.md': readme(about, 'kustomize'),
    })
  })

  test('of nothing lists nothing', () => {
    for (const name of ['plain', 'single-file'] as const)
      expect(layout([], { layout: name, about }).get('kustomization.yaml')).toBe(kustomization([]))
  })
})

describe('the README', () => {
  test('tells where the files come from, and what to do in place of an edit', () => {
    expect(readme(about, 'plain')).toMatchInlineSnapshot(`
      "# shop (staging)

      The Kubernetes manifests of \`shop\` for the environment \`staging\`. devctl has made them from \`compose.yaml\`, \`compose.staging.yaml\` in \`https://git.example.com/team/shop.git\`. There is a file for each object, in the folder of its service; \`_shared\` has what services share. \`kubectl apply -k .\`, Argo CD and Flux take the folder as it is.

      ## How to change them

      Not here: devctl stops when a file of its own was edited, and never touches files that others put beside its own (\`.devctl.lock\` lists which are its own). Change the source, and publish it again:

          devctl publish --environment staging

      The same files without a commit, to look at:

          devctl render --environment staging --output-dir manifests
      "
    `)
  })

  test('lists the Secrets that the cluster must hold, each key once', () => {
    const requiredSecrets = [
      { secret: 'db', key: 'password', usedBy: 'web' },
      { secret: 'api', key: 'token', usedBy: 'web' },
      { secret: 'db', key: 'password', usedBy: 'db' },
    ]
    const text = readme({ ...about, requiredSecrets }, 'plain')
    expect(text.slice(text.indexOf('## Secrets'))).toMatchInlineSnapshot(`
      "## Secrets

      The repository holds no secrets. These must be in the namespace before the Pods that use them can start:

      | Secret | key | used by |
      |---|---|---|
      | \`api\` | \`token\` | \`web\` |
      | \`db\` | \`password\` | \`db\`, \`web\` |
      "
    `)
    expect(readme({ ...about, requiredSecrets: [...requiredSecrets].reverse() }, 'plain')).toBe(text)
  })

  test('does without what is not known, and repeats what was asked for on the command line', () => {
    const text = readme({ application: 'shop', options: ['--name', "it's"], sources: [] }, 'single-file')
    expect(text).toContain('# shop\n\nThe Kubernetes manifests of `shop`. devctl has made them. `manifests.yaml` has')
    expect(text).toContain("\n    devctl publish --name 'it'\\''s'\n")
  })

  test('never repeats a token, and keeps odd names in their place', () => {
    const text = readme(
      { ...about, sourceRepository: 'https://me:token@git.example.com/shop.git', sources: ['a`b\n# c.yaml'] },
      'plain',
    )
    expect(text).not.toContain('token')
    expect(text).toContain('from `` a`b?# c.yaml `` in `https://git.example.com/shop.git`')
  })
})
