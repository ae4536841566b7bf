import { describe, expect, test } from 'vitest'
import { commands } from '../../../cli/commands.ts'
import { makeFolder, read } from '../../support/cli/folder.ts'
import { kubeconfigWith } from '../../support/contexts/kubeconfig.ts'
import { run } from '../../support/run.ts'

// The folder has no repository, and the cluster no platform; the error is about the platform.

const LINES: readonly string[] = [
  'namespace create shop',
  'namespace delete shop',
  'namespace list',
  'namespace share shop bob',
  'namespace unshare shop bob',
  'namespace sleep',
  'namespace wake',
  'pipeline deploy',
  'pipeline destroy',
  'pipeline list',
  'pipeline logs',
  'preview deploy',
  'preview deploy --wait --comment',
  'preview destroy',
  'preview list',
  'preview endpoints',
  'preview approve shop-pr-7 --commit 6dcb09b',
  'preview hook add',
  'preview hook list',
  'preview hook remove',
  'variables list',
  'variables set PASSWORD',
  'variables unset PASSWORD',
  'credentials list',
  'credentials set git.example.com',
  'credentials unset git.example.com',
]

/** The command of a line: the longest name that it begins with. */
const commandOf = (line: string): string | undefined =>
  commands
    .map(({ name }) => name)
    .filter(name => `${line} `.startsWith(`${name} `))
    .sort((a, b) => b.length - a.length)[0]

describe('commands for the platform, without a platform', () => {
  test.each(LINES)('devctl %s reports the missing platform, and what to do instead', async line => {
    const cwd = makeFolder({ '.kube/config': kubeconfigWith({ 'kind-dev': 'shop' }) })
    const { status, stdout, stderr } = await run(line.split(' '), { cwd, env: { HOME: cwd }, stdin: 'x' })
    expect({ status, stdout }, stderr).toEqual({ status: 1, stdout: '' })
    expect(stderr).toMatch(
      /^error: `devctl [a-z ]+` needs a platform; `kind-dev` is a context of the kubeconfig\n {2}= help: .+\n$/,
    )
    const named = /`devctl ([a-z ]+)` needs/.exec(stderr)?.[1] ?? ''
    expect(`${line} `).toContain(`${named} `)
    expect(Object.keys(read(cwd))).toEqual(['.kube/config'])
  })

  test('the list contains every command that needs a platform', () => {
    const needsOne = /Requires a (login to a platform|cluster with the platform installed)/
    const groups = commands.filter(one => needsOne.test(one.description ?? '')).map(({ name }) => name.split(' ')[0])
    // All commands of a group need the platform, but a namespace can be chosen on any cluster.
    const all = commands
      .map(({ name }) => name)
      .filter(name => name.includes(' ') && groups.includes(name.split(' ')[0]) && name !== 'namespace use')
    expect([...new Set(LINES.map(commandOf))].sort()).toEqual([...all].sort())
  })
})
