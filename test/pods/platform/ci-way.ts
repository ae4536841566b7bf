import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../../support/cluster/cluster.ts'
import { RUN } from '../../support/platform/run-name.ts'
import { few, longTest, TAKES_ALL } from '../../support/takes-all.ts'
import type { Installation, Repository } from './installation.ts'

// This job of a CI system for a pull request has only the token that the CI gives it. It deploys, comments, deploys
// again and destroys.

const PREFIX = `shop-${RUN}-`
const NAME = `${PREFIX}7`
const BASE = 'registry.devctl.localhost/library/nginx:1.27-alpine'
const HEALTHY = 'healthcheck: {http: {path: /, port: 80}, interval: 1s, retries: 100}'
/** Services other than the one whose image is built. */
const OTHERS = `
    depends_on: {store: {condition: service_healthy}}
  api:
    image: nginx:1.27-alpine
    ports: ["80:80"]
    ${HEALTHY}
  store:
    image: redis:7-alpine
    healthcheck: {test: redis-cli ping, interval: 3s, retries: 60}`
/** Services that have a page. */
const PAGES = few(['web', 'api'])
const FILES = {
  'compose.yaml': `name: shop
services:
  web:
    build: .
    ports: ["80:80"]
    ${HEALTHY}${TAKES_ALL ? OTHERS : ''}
`,
  Dockerfile: `FROM ${BASE}\nCOPY index.html /usr/share/nginx/html/index.html\n`,
  'index.html': `main of ${RUN}\n`,
}

export const ciWay = (installed: () => Installation) =>
  describe('CI jobs', () => {
    let shop: Repository
    let issuer: CiIssuer
    let pull: { readonly number: number; readonly html_url: string }
    const branch = 'greeting'

    beforeAll(async () => {
      shop = await installed().repository(`shop-${RUN}`, FILES, true)
      issuer = await publishIssuer(installed())
      await installed().upgrade(`--ci gitea=${issuer.url},repository=${shop.id},prefix=${PREFIX}`)
      const at = `/repos/${shop.full_name}`
      await installed().ask('POST', `${at}/branches`, { new_branch_name: branch, old_branch_name: 'main' })
      await installed().commit(shop.full_name, branch, 'index.html', `one of ${RUN}\n`)
      pull = await installed().ask('POST', `${at}/pulls`, { head: branch, base: 'main', title: 'a greeting' })
    })
    afterAll(async () => {
      for (const one of [shop, issuer?.repository]) if (one) await installed().ask('DELETE', `/repos/${one.full_name}`)
    })

    /** Returns the environment of a job: its token for the platform, and one with which it may clone and comment. */
    const job = async (more: object = {}) => ({
      DEVCTL_ID_TOKEN: await issuer.sign({
        aud: installed().url,
        repository: shop.full_name,
        repository_id: String(shop.id),
        repository_owner_id: String(shop.owner.id),
        ref: `refs/pull/${pull.number}/head`,
        event_name: 'pull_request',
        ...more,
      }),
      // The server reports which kind of forge it is.
      DEVCTL_FORGE_TOKEN: process.env.FORGE_TOKEN ?? '',
      DEVCTL_CLONE_TOKEN: process.env.FORGE_TOKEN ?? '',
      DEVCTL_FORGE_TOKEN_HOST: new URL(shop.html_url).host,
    })
    const deploy = (name = NAME) =>
      `preview deploy ${name} --repository ${shop.html_url} --branch ${branch} --sourceUrl ${pull.html_url} --wait --comment`
    const comments = () =>
      installed().ask<readonly { id: number; body: string }[]>(
        'GET',
        `/repos/${shop.full_name}/issues/${pull.number}/comments`,
      )
    const page = (service: string) => installed().fetch(`https://${service}-${NAME}.devctl.localhost/`)
    const head = async () =>
      (await installed().ask<{ commit: { id: string } }>('GET', `/repos/${shop.full_name}/branches/${branch}`)).commit
        .id

    // The tests of `ci`, on an API server, also cover which jobs a rule admits and what they may do.
    longTest('a job of another repository or for another platform gets no token', async () => {
      for (const [more, why] of [
        [{ repository_id: String(shop.id + 1_000_000) }, 'no rule of the platform allows this job'],
        [{ event_name: 'pull_request_target' }, 'no rule of the platform allows this job'],
        [{ aud: 'https://platform.example.com' }, 'the CI token is not accepted'],
      ] as const) {
        const refused = installed().start('other-job', `context use ${installed().url}`, { env: await job(more) })
        expect([await refused.status, refused.stderr]).toEqual([1, expect.stringContaining(why)])
      }
    })

    test('a job deploys the branch in a run and comments on the pull request', async () => {
      const env = await job()
      await installed().ok('job', `context use ${installed().url}`, { env })
      await installed().ok('job', deploy(), { env })
      const web = await eventually('the page answers', async () => {
        const found = await page('web')
        return found.status === 200 ? found : undefined
      })
      expect(web.body).toBe(`one of ${RUN}\n`)
      const endpoints = await installed().ok('job', `preview endpoints ${NAME}`)
      for (const service of PAGES) {
        expect((await page(service)).status).toBe(200)
        expect(endpoints).toContain(`https://${service}-${NAME}.devctl.localhost`)
      }
      const [comment, ...others] = await comments()
      expect(others).toEqual([])
      for (const text of ['✅ ready', (await head()).slice(0, 12), `<https://web-${NAME}.devctl.localhost`])
        expect(comment!.body).toContain(text)
    })

    longTest('a job cannot deploy another name, create a namespace or change settings', async () => {
      const other = installed().start('job', deploy(`another-${RUN}`), { env: await job() })
      expect([await other.status, other.stderr]).toEqual([1, expect.stringContaining(PREFIX)])
      for (const line of [`namespace create ${PREFIX}own`, `variables set A=b --namespace ${NAME}`]) {
        const refused = installed().start('job', line)
        expect([line, await refused.status, refused.stderr]).toEqual([line, 1, expect.stringContaining('error: ')])
      }
    })

    longTest('a job after a push updates the same preview and the same comment', async () => {
      const [before] = await comments()
      await installed().commit(shop.full_name, branch, 'index.html', `two of ${RUN}\n`)
      await installed().ok('job', deploy(), { env: await job() })
      await eventually('the new page answers', async () =>
        (await page('web')).body === `two of ${RUN}\n` ? true : undefined,
      )
      const all = await comments()
      expect(all.map(({ id }) => id)).toEqual([before!.id])
      expect(all[0]!.body).toContain((await head()).slice(0, 12))
      expect(all[0]!.body).not.toBe(before!.body)
    })

    longTest('a job whose commit does not start fails, and the comment says why', async () => {
      await installed().commit(shop.full_name, branch, 'Dockerfile', `FROM ${BASE}\nCMD ["false"]\n`)
      const failed = installed().start('job', `${deploy()} --timeout 240s`, { env: await job() })
      expect(await failed.status, failed.stderr).toBe(1)
      const [comment, ...others] = await comments()
      expect([comment!.body, others]).toEqual([expect.stringContaining('❌ failed'), []])
      expect(comment!.body).toMatch(/error\[deploy\/[a-z-]+\]: .*`web`[\s\S]*compose\.yaml:3:/)
    })

    test('a job destroys the preview, and nothing of it is left', async () => {
      await installed().ok('job', `preview destroy ${NAME}`, { env: await job() })
      expect(await installed().ok('job', 'preview list')).not.toContain(NAME)
      const { status } = await installed().cluster.send('GET', `/api/v1/namespaces/${NAME}`)
      expect(status).toBe(404)
      await eventually('its runs are gone', async () => {
        const jobs = await installed().cluster.kubectl(
          'get',
          'jobs,secrets',
          '--namespace=devctl-runs',
          '--output=json',
        )
        return jobs.includes(`"${NAME}"`) ? undefined : true
      })
      expect([404, 503]).toContain((await page('web')).status)
    })
  })

/** Issuer of tokens for jobs: a forge that serves its keys as files. */
interface CiIssuer {
  readonly url: string
  readonly repository: Repository
  sign(claims: object): Promise<string>
}

async function publishIssuer(installed: Installation): Promise<CiIssuer> {
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  const repository = await installed.repository(`issuer-${RUN}`, {})
  const url = `${repository.html_url}/raw/branch/main`
  const keys = { keys: [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }] }
  const files = { '.well-known/openid-configuration': { issuer: url, jwks_uri: `${url}/keys.json` }, 'keys.json': keys }
  for (const [path, value] of Object.entries(files))
    await installed.commit(repository.full_name, 'main', path, JSON.stringify(value))
  return {
    url,
    repository,
    sign: claims =>
      new SignJWT({ ...claims })
        .setProtectedHeader({ alg: 'ES256', kid: 'one' })
        .setIssuer(url)
        .setIssuedAt()
        .setExpirationTime('10m')
        .sign(privateKey),
  }
}
