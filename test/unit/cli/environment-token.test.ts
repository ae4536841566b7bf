import { describe, expect, test } from 'vitest'
import { read } from '../../support/cli/folder.ts'
import { platformLaptop, TOKEN } from './platform-laptop.ts'

// Choosing a context or a namespace while a platform of the environment takes precedence.

test('context use warns about a `DEVCTL_URL` that takes precedence', async () => {
  const { url, host, devctl } = await platformLaptop()
  const other = { DEVCTL_URL: 'https://other.example.com', DEVCTL_TOKEN: TOKEN }
  expect(await devctl(`context use ${url} --token ${TOKEN}`, other)).toEqual({
    status: 0,
    stdout: `Using context ann @ ${host}\n`,
    stderr: 'Logged in as ann\nwarning: `DEVCTL_URL` is set and takes precedence\n',
  })
  // The login counts if the environment has no token.
  const same = { DEVCTL_URL: `${url}/` }
  expect((await devctl(`context use ${url}`, same)).stderr).toBe('Logged in as ann\n')
})

describe('a chosen namespace with the token of the environment', () => {
  const warning =
    'warning: `DEVCTL_URL` and `DEVCTL_TOKEN` are set and take precedence, without a namespace that is remembered\n  = help: to use namespace `shop`, set `DEVCTL_NAMESPACE=shop`\n'

  test('namespace use says what to set, and stores nothing', async () => {
    const { url, host, folder, devctl } = await platformLaptop()
    const env = { DEVCTL_URL: `${url}/`, DEVCTL_TOKEN: TOKEN }
    expect(await devctl('namespace use shop', env)).toEqual({ status: 0, stdout: '', stderr: warning })
    expect(await devctl('namespace use gone', env)).toMatchObject({ status: 1, stdout: '' })
    const set = { ...env, DEVCTL_NAMESPACE: 'shop' }
    expect(await devctl('namespace use shop', set)).toEqual({
      status: 0,
      stdout: `Using context shop @ ${host}\n`,
      stderr: '',
    })
    expect(read(folder)).toEqual({})
  })

  test('namespace create creates the namespace, and says what to set', async () => {
    const { url, folder, devctl } = await platformLaptop()
    const env = { DEVCTL_URL: url, DEVCTL_TOKEN: TOKEN }
    expect(await devctl('namespace create shop', env)).toEqual({
      status: 0,
      stdout: 'Created namespace shop\n',
      stderr: warning,
    })
    expect(read(folder)).toEqual({})
  })

  test('context use does not switch to the namespace, but an existing login stores it for later', async () => {
    const { url, host, stored, remember, devctl } = await platformLaptop()
    const env = { DEVCTL_URL: url, DEVCTL_TOKEN: TOKEN }
    remember('ann')
    expect(await devctl(`context use ${url} --namespace shop`, env)).toEqual({
      status: 0,
      stdout: '',
      stderr: `Logged in as ann\n${warning}`,
    })
    remember('ann')
    expect(await devctl('namespace use shop', env)).toEqual({ status: 0, stdout: '', stderr: warning })
    expect(stored()).toMatchObject({ contexts: { [url]: { token: TOKEN, namespace: 'shop' } } })
    expect((await devctl(`context use ${url} --namespace ann`, env)).stdout).toBe(`Using context ann @ ${host}\n`)
  })
})
