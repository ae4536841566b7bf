import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const program = join(import.meta.dirname, '../../bin/devctl.cjs')

/** `npm test` has built it; a run of this file alone may not have. */
test.skipIf(!existsSync(join(program, '../../dist/bin')))('the built program finds the library for proxies', () => {
  const folder = mkdtempSync(join(tmpdir(), 'devctl-built-'))
  const kubeconfig = join(folder, 'config')
  const whole = {
    'current-context': 'x',
    contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
    clusters: [{ name: 'x', cluster: { server: 'https://cluster.example.com', 'proxy-url': 'http://127.0.0.1:9' } }],
    users: [{ name: 'x', user: {} }],
  }
  writeFileSync(kubeconfig, JSON.stringify(whole))
  writeFileSync(join(folder, 'compose.yaml'), 'name: x\nservices: {web: {image: "a:1"}}\n')
  const { status, stderr } = spawnSync(process.execPath, [program, 'deploy'], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: folder, KUBECONFIG: kubeconfig },
  })
  expect(stderr).toContain('error: nothing listens at')
  expect(status).toBe(1)
})
