import { h } from 'preact'
import { LocationProvider } from 'preact-iso/router'
import { expect, test } from 'vitest'
import { Login } from '../../../../../../platform/web/pages/login/login.tsx'
import { Setup } from '../../../../../../platform/web/pages/login/setup.tsx'
import { json, openPage } from '../../stub-page.ts'

const AWAY = () => new Response('no backend', { status: 503 })
const BROKEN = () => json({ code: 'platform/internal', message: 'the cluster does not answer' }, 500)
const NOBODY = () => json({ code: 'platform/login', message: 'log in' }, 401)
const INFO = { version: '0.1.0', login: [{ id: 'git', name: 'Git' }] }

/** Opens a page of the login on a platform that answers its first requests with `first`. */
function open(content: () => object, hash: string, first: () => Response) {
  const server = { isWell: false }
  const page = openPage(path => {
    if (!server.isWell) return first()
    return path.endsWith('/me') ? NOBODY() : json(INFO)
  }, `https://platform.example.com/setup${hash}`)
  page.show(h(LocationProvider, {}, content()))
  return { server, ...page }
}

const PAGES = [
  ['an invitation', () => h(Setup, {}), '#devctl_invite_abc', 'Log in with your invitation'],
  ['a link of the installer', () => h(Setup, {}), '#devctl_setup_abc', 'Log in, and your account becomes'],
  ['the login', () => h(Login, {}), '', 'Log in with  Git'],
] as const

test.each(PAGES)('%s is shown once the platform answers', async (_, content, hash, expected) => {
  const { server, root, pass } = open(content, hash, AWAY)
  await pass(5_000)
  expect(root.text).toContain('The platform does not answer')
  expect(root.text).toContain('Retrying automatically.')
  expect(root.text).not.toContain(expected)
  server.isWell = true
  await pass(5_000)
  expect(root.text).toContain(expected)
  expect(root.text).not.toContain('does not answer')
})

test.each(PAGES)(
  '%s shows why the platform refuses it, and tries again on request',
  async (_, content, hash, expected) => {
    const { server, root, pass } = open(content, hash, BROKEN)
    await pass(10_000)
    expect(root.text).toContain('The cluster does not answer')
    expect(root.text).not.toContain('Retrying')
    server.isWell = true
    await pass(10_000)
    expect(root.text).not.toContain(expected)
    root.button('Try again').dispatchEvent(new Event('click'))
    await pass(100)
    expect(root.text).toContain(expected)
  },
)

test('a page that is left while the platform does not answer sends no more requests', async () => {
  let requests = 0
  const { show, pass } = openPage(() => {
    requests++
    return AWAY()
  }, 'https://platform.example.com/setup#devctl_invite_abc')
  show(h(LocationProvider, {}, h(Setup, {})))
  await pass(100)
  expect(requests).toBeGreaterThan(0)
  show(null)
  const before = requests
  await pass(30_000)
  expect(requests).toBe(before)
})
