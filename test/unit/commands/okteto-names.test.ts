import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { withOktetoNames } from '../../../commands/okteto-names.ts'
import { runCommands } from '../../../commands/run-commands.ts'

const work = mkdtempSync(join(tmpdir(), 'devctl-okteto-names-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))

test('commands of an Okteto manifest get the variables of devctl under their Okteto names, but no token', () => {
  const env = withOktetoNames({
    PATH: '/bin',
    OKTETO_NAMESPACE: 'of the shell',
    DEVCTL_NAMESPACE: 'team',
    DEVCTL_NAME: 'shop',
    DEVCTL_BUILD_API_IMAGE: 'registry.example.com/api:1',
    DEVCTL_DEPENDENCY_DB_VARIABLE_HOST: 'db',
    DEVCTL_CONTEXT: 'kind-dev',
    DEVCTL_TOKEN: 'secret',
  })
  expect(Object.keys(env).filter(name => name.startsWith('OKTETO_'))).toEqual([
    'OKTETO_NAMESPACE',
    'OKTETO_NAME',
    'OKTETO_BUILD_API_IMAGE',
    'OKTETO_DEPENDENCY_DB_VARIABLE_HOST',
  ])
  expect(env).toMatchObject({ OKTETO_NAMESPACE: 'team', DEVCTL_NAMESPACE: 'team', OKTETO_NAME: 'shop' })
})

test('a command of an Okteto manifest passes variables on through the file in OKTETO_ENV', async () => {
  const lines: string[] = []
  const { variables } = await runCommands(
    ['echo "URL=http://api" >> "$OKTETO_ENV"', 'echo "$URL"'].map(command => ({ name: command, command })),
    {
      folder: work,
      env: { PATH: process.env['PATH'] },
      envNames: ['DEVCTL_ENV', 'OKTETO_ENV'],
      output: ({ text }) => lines.push(text),
    },
  )
  expect({ variables, lines }).toEqual({ variables: { URL: 'http://api' }, lines: ['http://api'] })
})
