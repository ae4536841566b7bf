import { describe, expect, test } from 'vitest'
import { NOT_LOGGED_IN, Refused, servePlatform } from '../../support/cli/fake-platform.ts'
import { makeFolder, read, write } from '../../support/cli/folder.ts'
import { run } from '../../support/run.ts'

// The command line reports which token a platform does not accept, and what to do.

const TOKEN = 'devctl_api_canary'

async function refusing(answer = NOT_LOGGED_IN) {
  const { url } = await servePlatform({ 'GET /me': answer, 'GET /namespaces': answer })
  const folder = makeFolder()
  const devctl = (line: string, env: Readonly<Record<string, string>> = {}) =>
    run(line.split(' '), { cwd: folder, env: { HOME: folder, ...env } })
  const logIn = () => {
    const stored = { [url]: { token: TOKEN, namespace: 'ann', kubernetes: { server: 'https://127.0.0.1:9' } } }
    write(folder, { '.devctl/contexts.json': JSON.stringify({ current: url, contexts: stored }) })
  }
  const refused = (message: string, help: string) => ({
    status: 1,
    stdout: '',
    stderr: `error: ${message}\n  = note: according to the platform ${new URL(url).host}; \`devctl explain platform/login\` tells more\n  = help: ${help}\n`,
  })
  return { url, folder, devctl, logIn, refused }
}

describe('a token that the platform does not accept', () => {
  test('the error names the token of `DEVCTL_TOKEN`', async () => {
    const { url, devctl, refused, folder, logIn } = await refusing()
    const env = { DEVCTL_URL: `${url}/`, DEVCTL_TOKEN: `${TOKEN}\n` }
    const expected = refused(
      'the platform does not accept the token of `DEVCTL_TOKEN`: it is wrong, expired or deleted',
      `create another one at ${url}/you/tokens`,
    )
    expect(await devctl('namespace list', env)).toEqual(expected)
    expect(await devctl(`context use ${url}`, env)).toEqual(expected)
    expect(read(folder)).toEqual({})
    logIn()
    expect(await devctl('namespace list', env)).toEqual(expected)
  })

  test('the error names the token of `--token`', async () => {
    const { url, devctl, refused, folder } = await refusing()
    expect(await devctl(`context use ${url} --token ${TOKEN}`)).toEqual(
      refused(
        'the platform does not accept the token of `--token`: it is wrong, expired or deleted',
        `create another one at ${url}/you/tokens`,
      ),
    )
    expect(read(folder)).toEqual({})
  })

  test('a refused token of a login is reported as a login that has ended', async () => {
    const { url, devctl, refused, logIn } = await refusing()
    logIn()
    expect(await devctl('namespace list')).toEqual(
      refused(`your login to \`${url}\` has ended`, `\`devctl context use ${url}\` logs in again`),
    )
  })

  test('a refusal is reported in the words of the platform if it gives a reason', async () => {
    const hint = 'the login provider no longer knows them'
    const { devctl, refused, logIn } = await refusing(
      new Refused(401, { code: 'platform/login', message: '`ann` has to log in again', hint }),
    )
    logIn()
    expect(await devctl('namespace list')).toEqual(refused('`ann` has to log in again', hint))
  })
})
