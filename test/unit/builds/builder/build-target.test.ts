import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findBuildTarget } from '../../../../builds/builder/build-target.ts'
import { Secret } from '../../../../project/contexts/secret.ts'
import { saveContext } from '../../../../project/contexts/store.ts'
import { makeFolder } from '../../../support/cli/folder.ts'
import { kubeconfigWith } from '../../../support/contexts/kubeconfig.ts'

const PLATFORM = 'https://platform.example.com'

describe('the target of a build', () => {
  async function somewhere() {
    const folder = makeFolder({ kubeconfig: kubeconfigWith({ kube: undefined }) })
    const env = { DEVCTL_HOME: join(folder, 'home'), KUBECONFIG: join(folder, 'kubeconfig') }
    await saveContext(env.DEVCTL_HOME, { name: PLATFORM, token: new Secret('t'), namespace: 'ann' }, true)
    return { cwd: folder, env }
  }

  test('the environment that an option has chosen takes precedence over variables and manifest', async () => {
    const here = await somewhere()
    const environment = { context: PLATFORM, namespace: 'staging' }
    const around = { ...here, env: { ...here.env, DEVCTL_CONTEXT: 'kube', DEVCTL_NAMESPACE: 'other' } }
    const found = await findBuildTarget(around, { environment, manifest: { context: 'kube', namespace: 'dev' } })
    expect(found).toMatchObject({ context: PLATFORM, namespace: 'staging' })
    expect(await findBuildTarget(around, { context: 'kube', environment })).toMatchObject({
      context: 'kube',
      namespace: 'staging',
    })
  })

  test('a missing cluster of the environment means no target, and a platform without login fails', async () => {
    const here = await somewhere()
    expect(await findBuildTarget(here, { environment: { context: 'gone' } })).toMatchObject({ context: '' })
    const unknown = { context: 'https://other.example.com' }
    await expect(findBuildTarget(here, { environment: unknown })).rejects.toThrow('not logged in')
    // The context of the environment takes precedence over `DEVCTL_CONTEXT`.
    const around = { ...here, env: { ...here.env, DEVCTL_CONTEXT: 'https://other.example.com' } }
    expect(await findBuildTarget(around, { environment: { context: 'gone' } })).toMatchObject({ context: '' })
  })
})
