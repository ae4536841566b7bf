import { mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { configHome, homeVariables, possibleHomes, stateHome } from '../../../../project/contexts/home.ts'
import { makeFolder, read } from '../../../support/cli/folder.ts'
import { kubeconfigWith } from '../../../support/contexts/kubeconfig.ts'
import { run } from '../../../support/run.ts'

const XDG = { XDG_CONFIG_HOME: '/nowhere/config', XDG_STATE_HOME: '/nowhere/state' }

test.each([
  [{ HOME: '/home/ann' }, '/home/ann/.devctl', '/home/ann/.devctl'],
  [{ HOME: '/home/ann', DEVCTL_HOME: '/tmp/d' }, '/tmp/d', '/tmp/d'],
  [{ HOME: '/home/ann', DEVCTL_HOME: 'd' }, '/project/d', '/project/d'],
  [{ HOME: '/home/ann', DEVCTL_HOME: '' }, '/home/ann/.devctl', '/home/ann/.devctl'],
  [{ HOME: '/home/ann', ...XDG }, '/nowhere/config/devctl', '/nowhere/state/devctl'],
  [{ HOME: '/home/ann', ...XDG, DEVCTL_HOME: '/tmp/d' }, '/tmp/d', '/tmp/d'],
  [{ HOME: '/home/ann', XDG_CONFIG_HOME: '/nowhere/config' }, '/nowhere/config/devctl', '/home/ann/.devctl'],
  // Relative paths are invalid according to the specification of XDG, and empty ones mean that nothing is set.
  [{ HOME: '/home/ann', XDG_CONFIG_HOME: 'config', XDG_STATE_HOME: '' }, '/home/ann/.devctl', '/home/ann/.devctl'],
])('with %j, devctl keeps its configuration in %s and its state in %s', (env, config, state) => {
  const around = { env, cwd: '/project' }
  expect([configHome(around), stateHome(around)]).toEqual([config, state])
  expect(possibleHomes(around)).toEqual(expect.arrayContaining([config, state, '/home/ann/.devctl']))
})

test.each([
  [{}, {}],
  [{ DEVCTL_HOME: 'd', ...XDG }, { DEVCTL_HOME: '/project/d' }],
  [XDG, XDG],
  [{ ...XDG, XDG_STATE_HOME: 'state' }, { XDG_CONFIG_HOME: '/nowhere/config' }],
])('with %j, other programs get %j', (env, variables) => {
  expect(homeVariables({ env, cwd: '/project' })).toEqual(variables)
})

describe('a `~/.devctl` from before XDG variables were set', () => {
  function laptop() {
    const home = makeFolder({ '.kube/config': kubeconfigWith({ kind: 'shop', prod: 'web' }) })
    const before = { HOME: home }
    const xdg = { ...before, XDG_CONFIG_HOME: join(home, '.config'), XDG_STATE_HOME: join(home, '.local/state') }
    const devctl = (line: string, env: Readonly<Record<string, string>>) => run(line.split(' '), { cwd: home, env })
    return { home, before, xdg, devctl }
  }

  test('stays in use for contexts, logins and state', async () => {
    const { home, before, xdg, devctl } = laptop()
    await devctl('context use prod --namespace web', before)
    await devctl('analytics --disable', before)
    expect((await devctl('context show -o name', xdg)).stdout).toBe('prod\n')
    expect((await devctl('analytics', xdg)).stdout).toContain('disabled')
    await devctl('context use kind', xdg)
    expect((await devctl('context show -o name', before)).stdout).toBe('kind\n')
    expect(Object.keys(read(home)).sort()).toEqual(['.devctl/analytics/off', '.devctl/contexts.json', '.kube/config'])
  })

  test('is replaced by the XDG folders once its files are moved there', async () => {
    const { home, before, xdg, devctl } = laptop()
    await devctl('context use prod', before)
    mkdirSync(join(home, '.config'))
    renameSync(join(home, '.devctl'), join(home, '.config/devctl'))
    expect((await devctl('context show -o name', xdg)).stdout).toBe('prod\n')
    // A program without the variables, such as cron, does not hide them.
    await devctl('context use kind', before)
    expect((await devctl('context show -o name', xdg)).stdout).toBe('prod\n')
  })

  test('is not created while the variables are set', async () => {
    const { home, xdg, devctl } = laptop()
    await devctl('context use prod', xdg)
    await devctl('analytics --disable', xdg)
    expect(Object.keys(read(home)).sort()).toEqual([
      '.config/devctl/contexts.json',
      '.kube/config',
      '.local/state/devctl/analytics/off',
    ])
  })
})
