import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { controllerAddress, withoutCredentials } from '../../../../adapters/git/repository-url.ts'
import type { AgentTarget, ArtifactTarget } from '../../../../gitops/agents/agents.ts'
import { argocdApplicationSet } from '../../../../gitops/agents/application-set.ts'
import { argocdApplication, argocdArtifactApplication } from '../../../../gitops/agents/argocd.ts'
import { fluxArtifactObjects, fluxObjects } from '../../../../gitops/agents/flux.ts'

const target: AgentTarget = {
  application: 'shop',
  environment: 'staging',
  namespace: 'shop-staging',
  repository: 'git@git.example.com:team/deploy.git',
  branch: 'main',
  path: 'environments/staging/shop/',
}

const artifact: ArtifactTarget = {
  application: 'shop',
  environment: 'staging',
  namespace: 'shop-staging',
  artifact: 'registry.example.com/team/shop',
  tag: 'staging',
}

describe('the objects of controllers', () => {
  test('argocdArtifactApplication creates an Application of Argo CD for an artifact', () => {
    expect(argocdArtifactApplication(artifact, { project: 'team' })).toMatchInlineSnapshot(`
      "# A private registry: give Argo CD its credentials, with \`argocd repo add --type oci\` or a Secret with \`type: oci\` that is
      # labelled \`argocd.argoproj.io/secret-type: repository\`.
      apiVersion: argoproj.io/v1alpha1
      kind: Application
      metadata:
        name: shop-staging
        namespace: argocd
        finalizers:
          - resources-finalizer.argocd.argoproj.io
      spec:
        project: team
        source:
          repoURL: oci://registry.example.com/team/shop
          targetRevision: staging
          path: "."
        destination:
          server: https://kubernetes.default.svc
          namespace: shop-staging
        syncPolicy:
          automated:
            prune: true
            selfHeal: true
          syncOptions:
            - CreateNamespace=true
            - ServerSideApply=true
          retry:
            limit: 5
            refresh: true
            backoff:
              duration: 10s
              factor: 2
              maxDuration: 3m
      "
    `)
  })

  test('fluxArtifactObjects creates the objects of Flux for an artifact', () => {
    expect(fluxArtifactObjects(artifact, { sourceInterval: '30s', serviceAccount: 'deployer' })).toMatchInlineSnapshot(`
      "# A private registry needs a Secret, created with \`kubectl create secret docker-registry\`; add to the spec below:
      #   secretRef:
      #     name: shop-staging-oci
      apiVersion: source.toolkit.fluxcd.io/v1
      kind: OCIRepository
      metadata:
        name: shop-staging
        namespace: flux-system
      spec:
        interval: 30s
        url: oci://registry.example.com/team/shop
        ref:
          tag: staging
      ---
      # The namespace \`shop-staging\` must exist.
      apiVersion: kustomize.toolkit.fluxcd.io/v1
      kind: Kustomization
      metadata:
        name: shop-staging
        namespace: flux-system
      spec:
        interval: 10m
        retryInterval: 1m
        timeout: 5m
        serviceAccountName: deployer
        sourceRef:
          kind: OCIRepository
          name: shop-staging
        path: ./
        prune: true
        wait: true
      "
    `)
  })

  test('argocdApplication creates an Application of Argo CD for a repository', () => {
    expect(argocdApplication(target)).toMatchInlineSnapshot(`
      "# A private repository: give Argo CD its credentials, with \`argocd repo add\` or a Secret that is labelled
      # \`argocd.argoproj.io/secret-type: repository\`.
      apiVersion: argoproj.io/v1alpha1
      kind: Application
      metadata:
        name: shop-staging
        namespace: argocd
        annotations:
          argocd.argoproj.io/manifest-generate-paths: "."
        finalizers:
          - resources-finalizer.argocd.argoproj.io
      spec:
        project: default
        source:
          repoURL: ssh://git@git.example.com/team/deploy.git
          targetRevision: main
          path: environments/staging/shop
        destination:
          server: https://kubernetes.default.svc
          namespace: shop-staging
        syncPolicy:
          automated:
            prune: true
            selfHeal: true
          syncOptions:
            - CreateNamespace=true
            - ServerSideApply=true
          retry:
            limit: 5
            refresh: true
            backoff:
              duration: 10s
              factor: 2
              maxDuration: 3m
      "
    `)
  })

  test('argocdApplicationSet creates an ApplicationSet of Argo CD for all folders', () => {
    const { repository, branch } = target
    const all = { name: 'deploy-staging', environment: 'staging', repository, branch, path: '.' }
    expect(argocdApplicationSet(all, { project: 'shops' })).toMatchInlineSnapshot(`
      "# A private repository: give Argo CD its credentials, with \`argocd repo add\` or a Secret that is labelled
      # \`argocd.argoproj.io/secret-type: repository\`.
      apiVersion: argoproj.io/v1alpha1
      kind: ApplicationSet
      metadata:
        name: deploy-staging
        namespace: argocd
      spec:
        goTemplate: true
        goTemplateOptions:
          - missingkey=error
        generators:
          - git:
              repoURL: ssh://git@git.example.com/team/deploy.git
              revision: main
              files:
                - path: "**/.devctl.lock"
                - path: .devctl.lock
            selector:
              matchLabels:
                environment: staging
              matchExpressions:
                - key: namespace
                  operator: Exists
        template:
          metadata:
            name: "{{ .application }}{{ with index . \\"environment\\" }}-{{ normalize . }}{{ end }}"
            annotations:
              argocd.argoproj.io/manifest-generate-paths: .;/apps/{{ .application }}
            finalizers:
              - resources-finalizer.argocd.argoproj.io
          spec:
            project: shops
            source:
              repoURL: ssh://git@git.example.com/team/deploy.git
              targetRevision: main
              path: "{{ .path.path }}"
            destination:
              server: https://kubernetes.default.svc
              namespace: "{{ .namespace }}"
            syncPolicy:
              automated:
                prune: true
                selfHeal: true
              syncOptions:
                - CreateNamespace=true
                - ServerSideApply=true
              retry:
                limit: 5
                refresh: true
                backoff:
                  duration: 10s
                  factor: 2
                  maxDuration: 3m
      "
    `)
    const [anywhere] = parse(argocdApplicationSet({ name: 'deploy', repository, branch, path: 'clusters/eu/' })).spec
      .generators
    expect(anywhere.git.files).toEqual([{ path: 'clusters/eu/**/.devctl.lock' }, { path: 'clusters/eu/.devctl.lock' }])
    expect(anywhere.selector).toEqual({ matchExpressions: [{ key: 'namespace', operator: 'Exists' }] })
    const { spec } = parse(argocdApplicationSet(all, { keepsObjects: true }))
    expect(spec.syncPolicy).toEqual({ preserveResourcesOnDeletion: true })
    expect(spec.template.metadata.finalizers).toBeUndefined()
  })

  test('fluxObjects creates the objects of Flux for a repository', () => {
    expect(fluxObjects(target)).toMatchInlineSnapshot(`
      "# ssh needs a Secret with \`identity\` and \`known_hosts\`; add to the spec below:
      #   secretRef:
      #     name: shop-staging-git
      apiVersion: source.toolkit.fluxcd.io/v1
      kind: GitRepository
      metadata:
        name: shop-staging
        namespace: flux-system
      spec:
        interval: 1m
        url: ssh://git@git.example.com/team/deploy.git
        ref:
          branch: main
      ---
      # The namespace \`shop-staging\` must exist.
      apiVersion: kustomize.toolkit.fluxcd.io/v1
      kind: Kustomization
      metadata:
        name: shop-staging
        namespace: flux-system
      spec:
        interval: 10m
        retryInterval: 1m
        timeout: 5m
        sourceRef:
          kind: GitRepository
          name: shop-staging
        path: ./environments/staging/shop
        prune: true
        wait: true
      "
    `)
  })

  test('argocdApplication takes another namespace, cluster and project', () => {
    const settings = { project: 'shops', destination: 'eu-1', keepsObjects: true }
    const application = { ...target, controllerNamespace: 'gitops', shared: 'apps/shop' }
    expect(parse(argocdApplication(application, settings))).toMatchObject({
      metadata: {
        name: 'shop-staging',
        namespace: 'gitops',
        annotations: { 'argocd.argoproj.io/manifest-generate-paths': '.;/apps/shop' },
      },
      spec: { project: 'shops', destination: { name: 'eu-1', namespace: 'shop-staging' } },
    })
    expect(argocdApplication(application, settings)).not.toMatch('finalizers')
    const server = parse(argocdApplication(target, { destination: 'https://10.0.0.1:6443' })).spec.destination
    expect(server).toEqual({ server: 'https://10.0.0.1:6443', namespace: 'shop-staging' })
  })

  test('fluxObjects takes other rights, keys and intervals', () => {
    const text = fluxObjects(
      { ...target, controllerNamespace: 'tenants' },
      {
        sourceInterval: '5m',
        interval: '1h',
        retryInterval: '2m',
        healthTimeout: '15m',
        serviceAccount: 'shop-deployer',
        targetNamespace: 'shop-eu',
        kubeconfigSecret: 'eu-1',
        decryptionSecret: 'sops-age',
      },
    )
    expect(text).toContain('# The namespace `shop-eu` must exist.')
    expect(parseAllDocuments(text).map(one => one.toJS())).toMatchObject([
      { metadata: { namespace: 'tenants' }, spec: { interval: '5m' } },
      {
        metadata: { namespace: 'tenants' },
        spec: {
          interval: '1h',
          retryInterval: '2m',
          timeout: '15m',
          serviceAccountName: 'shop-deployer',
          targetNamespace: 'shop-eu',
          kubeConfig: { secretRef: { name: 'eu-1' } },
          decryption: { provider: 'sops', secretRef: { name: 'sops-age' } },
        },
      },
    ])
  })

  test('fluxObjects names username and password for an https address', () => {
    const text = fluxObjects({
      ...target,
      repository: 'https://git.example.com/team/deploy.git',
      createNamespace: true,
    })
    expect(text).toContain('# A private repository needs a Secret with `username` and `password`')
    expect(text).not.toContain('must exist')
  })

  test('objects have one valid and distinct name, whatever the application is called', () => {
    const names = (application: string) =>
      parseAllDocuments(
        `${argocdApplication({ ...target, application })}---\n${fluxObjects({ ...target, application })}`,
      )
        .map(document => String(document.getIn(['metadata', 'name'])))
        .filter((name, index, all) => all.indexOf(name) === index)
    expect(names('shop')).toEqual(['shop-staging'])
    const [long, ...others] = names('a'.repeat(63))
    expect(others).toEqual([])
    expect(long).toMatch(/^[a-z0-9-]{50,63}$/)
    expect(names(`${'a'.repeat(62)}b`)).not.toEqual([long])
  })

  test('the path of objects can be the whole repository', () => {
    for (const path of ['', '.', './', '/']) {
      expect(argocdApplication({ ...target, path })).toContain('path: "."\n')
      expect(fluxObjects({ ...target, path })).toContain('path: ./\n')
    }
  })

  test('argocdApplication leaves the namespace to manifests that have it', () => {
    expect(argocdApplication(target)).toContain('CreateNamespace=true')
    expect(argocdApplication({ ...target, createNamespace: true })).not.toContain('CreateNamespace')
  })
})

describe('the address of a repository', () => {
  test.each([
    ['git@git.example.com:team/deploy.git', 'ssh://git@git.example.com/team/deploy.git'],
    ['git.example.com:/srv/git/deploy.git', 'ssh://git.example.com/srv/git/deploy.git'],
    ['git@[::1]:deploy.git', 'ssh://git@[::1]/deploy.git'],
    ['ssh://git@host:2222/deploy.git', 'ssh://git@host:2222/deploy.git'],
    ['https://me:token@git.example.com/deploy.git', 'https://git.example.com/deploy.git'],
    ['https://token@git.example.com:8443/a@b.git', 'https://git.example.com:8443/a@b.git'],
    ['http://git.example.com/deploy.git', 'http://git.example.com/deploy.git'],
    ['https://user:p@ss@git.example.com/a@b.git', 'https://git.example.com/a@b.git'],
  ])('controllerAddress returns an address for controllers: %s', (address, expected) => {
    expect(controllerAddress(address)).toBe(expected)
  })

  test.each([
    ['../deploy', 'a path on this machine'],
    ['/srv/git/deploy.git', '`/srv/git/deploy.git` is a path on this machine'],
    ['./a:b', 'a path on this machine'],
    ['file:///srv/my%20git', '`/srv/my git` is a path on this machine'],
    ['C:\\deploy', 'a path on this machine'],
    ['file:///srv/%E0%A4%A', 'is a path on this machine'],
    ['https://[bad/', 'is not a repository URL'],
    ['git://host/deploy.git', '`git://` addresses'],
  ])('%s is refused', (address, message) => {
    expect(() => controllerAddress(address)).toThrow(message)
  })

  test('withoutCredentials removes the password of an ssh address', () => {
    expect(withoutCredentials('ssh://git:secret@host/x')).toBe('ssh://git@host/x')
  })
})
