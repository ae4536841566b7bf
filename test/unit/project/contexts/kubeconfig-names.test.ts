import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readKubeconfigNames } from '../../../../project/contexts/kubeconfig-names.ts'
import { makeFolder } from '../../../support/cli/folder.ts'
import { kubeconfigWith } from '../../../support/contexts/kubeconfig.ts'

describe('readKubeconfigNames', () => {
  test('the names come from `.kube/config` in the home, if `KUBECONFIG` is empty or missing', async () => {
    const home = makeFolder({ '.kube/config': kubeconfigWith({ kind: 'shop' }) })
    for (const env of [{ HOME: home }, { HOME: home, KUBECONFIG: '' }, { HOME: home, KUBECONFIG: ':' }]) {
      const { current, contexts, paths } = await readKubeconfigNames({ env, cwd: '/' })
      const path = join(home, '.kube/config')
      expect({ current, contexts: [...contexts], paths }).toEqual({
        current: 'kind',
        contexts: [['kind', { path, namespace: 'shop' }]],
        paths: [path],
      })
    }
  })

  test('the names of several files are merged, and the first file takes precedence', async () => {
    const folder = makeFolder({
      a: kubeconfigWith({}),
      b: kubeconfigWith({ kind: 'first', prod: undefined }),
      c: kubeconfigWith({ other: 'x', kind: 'second' }),
    })
    const around = { env: { KUBECONFIG: 'gone:a:b:c:b' }, cwd: folder }
    const names = await readKubeconfigNames(around)
    expect(names.paths).toEqual(['gone', 'a', 'b', 'c'].map(name => join(folder, name)))
    expect(names).toMatchObject({ current: 'kind', currentPath: join(folder, 'b') })
    expect([...names.contexts]).toEqual([
      ['kind', { path: join(folder, 'b'), namespace: 'first' }],
      ['prod', { path: join(folder, 'b') }],
      ['other', { path: join(folder, 'c'), namespace: 'x' }],
    ])
  })

  test('a missing or empty file, or one of another shape, has no names', async () => {
    const texts = [undefined, '', 'contexts: 3', 'contexts: [1]']
    for (const config of texts) {
      const files: Readonly<Record<string, string>> = config === undefined ? {} : { config }
      const cwd = makeFolder(files)
      const names = await readKubeconfigNames({ env: { KUBECONFIG: 'config' }, cwd })
      expect(names).toMatchObject({ current: undefined, contexts: new Map() })
    }
  })

  test('a broken file is an error that names the line, and quotes nothing of it', async () => {
    const cwd = makeFolder({ config: 'users:\n- user: {token: SECRET\ncontexts: "\n' })
    const error = await readKubeconfigNames({ env: { KUBECONFIG: 'config' }, cwd }).catch(error => error)
    expect(error.message).toMatch(/^cannot read the kubeconfig `.*config`: it is not YAML: .*\(line \d+\)$/)
    expect(JSON.stringify([error.message, error.hint, error.notes])).not.toContain('SECRET')
    await expect(readKubeconfigNames({ env: { KUBECONFIG: '.' }, cwd })).rejects.toThrow(
      /^cannot read the kubeconfig .* it is a folder$/,
    )
    const list = makeFolder({ config: '- a' })
    await expect(readKubeconfigNames({ env: { KUBECONFIG: 'config' }, cwd: list })).rejects.toThrow(
      /it is not a kubeconfig$/,
    )
  })

  test('a file that may not be read is an error', async () => {
    const cwd = makeFolder({ config: kubeconfigWith({ kind: 'x' }) })
    chmodSync(join(cwd, 'config'), 0)
    // Root may read every file.
    const isRoot = process.geteuid?.() === 0
    if (isRoot) process.seteuid?.(65534)
    try {
      await expect(readKubeconfigNames({ env: { KUBECONFIG: 'config' }, cwd })).rejects.toThrow(/permission denied$/)
    } finally {
      if (isRoot) process.seteuid?.(0)
    }
  })
})
