import { expect, test } from 'vitest'
import type { ManifestEnvironment } from '../../../../compiler/manifest/manifest.ts'
import type { Plan } from '../../../../compiler/plan/plan.ts'
import type { PublishInput } from '../../../../gitops/publish/input.ts'
import { readmeData } from '../../../../gitops/publish/readme-data.ts'
import type { OpenProject } from '../../../../project/opened-project.ts'

const at = (value: string) => ({ value })

/** Returns the options for the destination that the README shows, for an environment with these settings. */
function targetOf(input: PublishInput, publish: object | undefined): readonly string[] | undefined {
  const plan = { environment: { name: 'shop' }, requiredSecrets: [] } as unknown as Plan
  const environment = publish && ({ key: 'staging', publish } as unknown as ManifestEnvironment)
  return readmeData(plan, [], { environment } as OpenProject, input).target
}

test.each<[PublishInput, object | undefined, readonly string[]]>([
  [{ repository: 'git@host:a/b.git' }, undefined, ['--repository', 'ADDRESS']],
  [{ repository: 'git@host:a/b.git' }, { repository: at('https://host/a/b.git') }, []],
  [{ repository: 'git@host:a/b.git' }, { oci: at('registry.example.com/a') }, ['--repository', 'ADDRESS']],
  [{ oci: 'registry.example.com/a:1' }, { oci: at('registry.example.com/a') }, []],
  [
    { oci: 'registry.example.com/a:1' },
    { repository: at('https://host/a/b.git') },
    ['--oci', 'registry.example.com/a'],
  ],
  [{ branch: 'main' }, { branch: at('main') }, []],
  [{ branch: 'next' }, { branch: at('main') }, ['--branch', 'next']],
  [{ path: 'environments/staging/shop' }, {}, []],
  [{ path: 'apps/shop/' }, { path: at('apps/shop') }, []],
  [{ path: 'environments/staging/shop' }, { path: at('apps/shop') }, ['--path', 'environments/staging/shop']],
  [{ path: 'apps/shop' }, undefined, ['--path', 'apps/shop']],
  [{ layout: 'plain' }, { layout: 'kustomize' }, ['--layout', 'plain']],
])('the README has only the options for the destination that the manifest lacks: %j, %j', (input, publish, shown) => {
  expect(targetOf(input, publish)).toEqual(shown)
})
