import { spawn } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeFolder, read } from '../../support/cli/folder.ts'
import { kubeconfigWith } from '../../support/contexts/kubeconfig.ts'
import { program } from '../../support/program.ts'
import { TAKES_ALL } from '../../support/takes-all.ts'

const AT_ONCE = TAKES_ALL ? 20 : 6
test(`${AT_ONCE} commands at once lose nothing, and leave nothing behind`, async () => {
  const names = Array.from({ length: AT_ONCE }, (_, index) => `c${index}`)
  const folder = makeFolder({ config: kubeconfigWith(Object.fromEntries(names.map(name => [name, 'old']))) })
  const env = { HOME: folder, DEVCTL_HOME: join(folder, 'home'), KUBECONFIG: join(folder, 'config') }
  const devctl = (...words: readonly string[]) =>
    new Promise<number | null>((resolve, reject) => {
      const child = spawn(process.execPath, [program(), ...words], { env, stdio: 'ignore' })
      child.on('error', reject)
      child.on('exit', resolve)
    })
  const statuses = await Promise.all(
    names.map((name, index) =>
      index % 5 === 4 ? devctl('kubeconfig') : devctl('context', 'use', name, '--namespace', `of-${name}`),
    ),
  )
  expect(statuses).toEqual(names.map(() => 0))
  const files = read(folder)
  expect(Object.keys(files)).toEqual(['config', 'home/contexts.json'])
  const { current, contexts } = JSON.parse(files['home/contexts.json']!)
  const used = names.filter((_, index) => index % 5 !== 4)
  expect(used).toContain(current)
  expect(contexts).toEqual(Object.fromEntries(used.map(name => [name, { namespace: `of-${name}` }])))
  expect(JSON.parse(files['config']!).contexts).toHaveLength(AT_ONCE)
  expect(statSync(join(folder, 'home')).mode & 0o777).toBe(0o700)
  expect(statSync(join(folder, 'home/contexts.json')).mode & 0o777).toBe(0o600)
}, 60_000)
