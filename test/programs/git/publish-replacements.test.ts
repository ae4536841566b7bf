import { describe, expect, test } from 'vitest'
import { git } from '../../support/git/git.ts'
import { publishing } from '../../support/git/publishing.ts'
import { few, TAKES_ALL } from '../../support/takes-all.ts'

const FOLDER = 'environments/staging/shop'

const compose = ({ port = false, more = '', size = '2g', environment = 'a' } = {}) => `name: shop
services:
  worker:
    image: busybox:1.37
    environment: {A: ${environment}}
    ${port ? 'expose: [8080]' : ''}
  db:
    image: redis:7
    volumes: [data:/data]
${more}volumes:
  data: {driver_opts: {size: ${size}}}
`

const FORCE = 'kustomize.toolkit.fluxcd.io/force: enabled'
const REPLACE = 'argocd.argoproj.io/sync-options: Replace=true,Force=true'

describe.each(few(['plain', 'kustomize', 'single-file']))('changes that need a replacement, as %s', layout => {
  const environment = `    layout: ${layout}\n`

  test('publish marks a changed object for replacement, and the next commit removes the marks', async () => {
    const app = await publishing({ compose: compose(), environment })
    expect((await app.publish()).status).toBe(0)
    await app.change({ 'compose.yaml': compose({ port: true }) })
    const marked = await app.publish()
    expect(marked.status, marked.stderr).toBe(0)
    expect(marked.stderr).toContain(
      'warning: the controller deletes service/worker and creates it again: a Service cannot become headless or stop being headless (compose.yaml:3:3)\n',
    )
    const message = await git(app.server.repository, 'log', '-1', '--format=%B', 'main')
    expect(message).toMatch(/^! service\/worker$/m)
    expect(message).not.toContain('annotations')
    const text = async () =>
      Object.entries(await app.tree())
        .filter(([path]) => path.startsWith(FOLDER))
        .map(([, text]) => text.replaceAll(/value: /g, ''))
        .join('')
    const count = async (mark: string) => (await text()).split(mark).length - 1
    if (layout === 'kustomize') expect(await text()).toContain('Replace=true,Force=true')
    else expect([await count(FORCE), await count(REPLACE)]).toEqual([1, 1])

    // Publishing the same again keeps the marks: the controllers may not have seen them yet.
    expect(await app.publish()).toMatchObject({ status: 0, stdout: expect.stringMatching(/^unchanged/) })
    if (TAKES_ALL)
      expect(await app.publish('--verify')).toMatchObject({ status: 0, stdout: expect.stringMatching(/^verified/) })
    await app.change({ 'compose.yaml': compose({ port: true, environment: 'b' }) })
    const next = await app.publish()
    expect(next.status, next.stderr).toBe(0)
    expect(next.stderr).not.toContain('creates it again')
    expect(await text()).not.toContain('Replace=true')
  })

  test('publish refuses a change that would lose data and reports its position', async () => {
    const app = await publishing({ compose: compose(), environment })
    expect((await app.publish()).status).toBe(0)
    await app.change({ 'compose.yaml': compose({ size: '1g' }) })
    const refused = await app.publish()
    expect(refused.status).toBe(1)
    expect(refused.stderr).toContain('`persistentvolumeclaim/data` cannot be changed as the files require')
    expect(refused.stderr).toContain('compose.yaml:11:30: persistentvolumeclaim/data: a claim cannot shrink: 2Gi → 1Gi')
    expect(await app.log()).toHaveLength(1)
    if (!TAKES_ALL) return
    await app.change({ 'compose.yaml': compose({ size: '3g' }) })
    expect((await app.publish()).status).toBe(0)
  })
})
