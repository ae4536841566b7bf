import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { root } from '../cases.ts'
import { untilAnswers } from '../cluster/application.ts'
import { findCluster } from '../cluster/cluster.ts'
import { DOMAIN } from '../cluster/examples.ts'
import { withProject } from '../cluster/project.ts'
import { run } from '../run.ts'
import { findBuildkit } from './buildkit.ts'

const address = findBuildkit()
const found = address === undefined ? undefined : findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined
const KEY = 'a-key-that-no-image-has'

describe.skipIf(cluster === undefined)('examples/build', () => {
  afterAll(() => cluster?.close())

  test('is built, deployed and works; the build secret is in no output and no image', () =>
    withProject(cluster!, async ({ name, directory, kubectl }) => {
      cpSync(join(root, 'examples/build'), directory, { recursive: true })
      const devctl = (env: Readonly<Record<string, string>>, ...args: readonly string[]) =>
        run([...args, '--name', name, '--registry', '127.0.0.1:5000/builds'], {
          cwd: directory,
          env: {
            KUBECONFIG: process.env.KUBECONFIG ?? '',
            DEVCTL_HOME: `${directory}/.home`,
            BUILDKIT_HOST: address!,
            DEVCTL_NAMESPACE: name,
            ...env,
          },
        })
      const deploy = ['deploy', '--wait', '--domain', DOMAIN]

      const refused = await devctl({}, ...deploy)
      expect(refused.status).toBe(1)
      expect(refused.stderr).toContain('error[build/secret-not-available]')

      const { status, stderr } = await devctl({ SIGNING_KEY: KEY, VERSION: '1.4' }, ...deploy)
      expect(status, stderr).toBe(0)
      expect(stderr).toMatch(/^#\d+ \[api tested 2\/2\] RUN node --test$/m)
      expect(stderr).not.toContain(KEY)
      await untilAnswers(cluster!, `site-${name}.${DOMAIN}`, '/', page => page.body.includes('Version 1.4'))
      await untilAnswers(cluster!, `site-${name}.${DOMAIN}`, '/api/', page => page.body.includes('"version":"1.4"'))
      expect(await kubectl('exec', 'deployment/mailer', '--', 'cat', 'src/choose.mjs')).toContain('export const choose')
      const holds = await kubectl(
        'exec',
        'deployment/words',
        '--',
        'sh',
        '-c',
        `grep -rls ${KEY} /app /run /var || echo none`,
      )
      expect(holds).toBe('none\n')
    }))
})
