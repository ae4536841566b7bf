import { describe, expect, test } from 'vitest'
import { servePlatform } from '../../support/cli/fake-platform.ts'
import { makeFolder } from '../../support/cli/folder.ts'
import { run } from '../../support/run.ts'
import { platformLaptop, TOKEN } from './platform-laptop.ts'

// Checks that the namespace of a platform context exists.

describe('context use', () => {
  test('context use accepts a namespace that exists', async () => {
    const { url, host, stored, devctl } = await platformLaptop()
    expect(await devctl(`context use ${url}/ --token ${TOKEN} --namespace shop`)).toEqual({
      status: 0,
      stdout: `Using context shop @ ${host}\n`,
      stderr: 'Logged in as ann\n',
    })
    expect(stored()).toMatchObject({ current: url, contexts: { [url]: { namespace: 'shop' } } })
  })

  test('context use refuses a namespace that does not exist, and stores the login only', async () => {
    const { url, host, stored, remember, devctl } = await platformLaptop()
    const refused = (help: string) => ({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(
        new RegExp(
          `^error: namespace \`\\w+\` does not exist, or you are not a member of it\n  = note: you are logged in to ${host}, but the current context is the same as before\n  = help: ${help}\n$`,
        ),
      ),
    })
    expect(await devctl(`context use ${url} --token ${TOKEN} --namespace shpo`)).toEqual(
      refused('did you mean `shop`\\?'),
    )
    expect(stored().current).toBeUndefined()
    expect(stored()).toMatchObject({ contexts: { [url]: { token: TOKEN, namespace: 'ann' } } })
    remember('shop')
    expect(await devctl(`context use ${url} --namespace gone`)).toEqual(refused('yours are `ann`, `shop`'))
    expect(stored()).toMatchObject({ current: 'kind', contexts: { [url]: { token: TOKEN, namespace: 'shop' } } })
  })

  test('context use replaces a missing namespace by the own one, with a warning', async () => {
    const { url, host, stored, remember, devctl } = await platformLaptop()
    remember('gone')
    expect(await devctl(`context use ${url}`)).toEqual({
      status: 0,
      stdout: `Using context ann @ ${host}\n`,
      stderr:
        'Logged in as ann\nwarning: namespace `gone`, which this context had, does not exist any more, or you are not a member of it\n',
    })
    expect(stored()).toMatchObject({ current: url, contexts: { [url]: { namespace: 'ann' } } })
    remember('shop')
    expect(await devctl(`context use ${url}`)).toMatchObject({ stdout: `Using context shop @ ${host}\n` })
  })

  test('context use does not request the namespaces of a CI job, which has none', async () => {
    const { url, asked } = await servePlatform({ 'GET /me': { id: 'x', login: 'ci:team/shop', role: 'developer' } })
    const cwd = makeFolder()
    const line = `context use ${url} --token ${TOKEN} --namespace shop`
    expect((await run(line.split(' '), { cwd, env: { HOME: cwd } })).status).toBe(0)
    expect(asked).toEqual(['GET /info', 'GET /me'])
  })
})
