// The part `pods` of `npm run bench -- platform`: a platform that is installed into the cluster of KUBECONFIG, as the
// tests do it (FORGE_ADDRESS, FORGE_TOKEN and FORGE_CA name a Gitea, and a BuildKit builds its images). It removes an
// existing platform.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { median } from './measure.mjs'
import { devctl, root } from './program.mjs'

const RUNS = Number(process.env.RUNS ?? 3)
const HTML = { 'sec-fetch-mode': 'navigate', accept: 'text/html' }
const QUIET = { 'sec-fetch-mode': 'cors' }
const WAKER = 'x-devctl-waker'

/** Adds goals and rows to those of the other parts. */
export async function measurePods(goals, rows) {
  const { findSurroundings, Installation } = await load()
  const around = await findSurroundings()
  if (!around) {
    rows.push('| with Pods: no cluster with nodes, a builder and a forge | left out |')
    return
  }
  const one = new Installation(around)
  const since = began => performance.now() - began
  const until = async (what, isSo, pause = 20) => {
    const began = performance.now()
    for (;;) {
      if (await isSo()) return since(began)
      if (since(began) > 120_000) throw new Error(`${what}: not after 120 s`)
      await new Promise(resolve => setTimeout(resolve, pause))
    }
  }
  const timed = async (who, line, options) => {
    const began = performance.now()
    const stdout = await one.ok(who, line, options)
    return { milliseconds: since(began), stdout }
  }
  const name = `bench-${process.pid}`
  const page = (service, namespace) => `https://${service}-${namespace}.devctl.localhost/`
  const status = async (url, headers = QUIET) => one.fetch(url, { headers })
  const isServed = url => async () => {
    const found = await status(url)
    return found.status === 200 && found.headers[WAKER] === undefined
  }
  let repository
  try {
    // Build the images before measuring.
    await one.install('')
    await one.uninstall()
    const began = performance.now()
    await one.upgrade(`--ca-file ${around.forge.authority}`)
    await until('the login page', async () => (await status(`${one.url}/login`, HTML)).status === 200)
    goals.push(['install to the login page, images there', since(began) / 1000, 30, 's'])
    await one.uninstall()
    await one.install('')

    await firstPage()
    await one.person(name)
    await commands()
    await wakes()
    await runs()
    await revoked()
    const rss = await one.cluster.kubectl(
      ...['--namespace=devctl-platform', 'exec', 'deployment/platform', '--', 'cat', '/proc/1/status'],
    )
    rows.push(`| memory of the server after that | ${Math.round(Number(/VmRSS:\s+(\d+)/.exec(rss)[1]) / 1024)} MiB |`)
  } finally {
    if (repository) await one.ask('DELETE', `/repos/${repository.full_name}`).catch(() => {})
    await one.close()
  }

  async function firstPage() {
    const times = []
    let files = []
    for (let run = 0; run < RUNS; run++) {
      const began = performance.now()
      files = await loaded()
      times.push(since(began))
    }
    // As a browser gets them.
    const words = ['-sk', '-H', 'Accept-Encoding: br, gzip', '-H', 'Accept: text/html', '-o', '/dev/null']
    const sizeOf = paths =>
      paths
        .map(
          path => spawnSync('curl', [...words, '-w', '%{size_download}', one.url + path], { encoding: 'utf8' }).stdout,
        )
        .reduce((sum, size) => sum + Number(size) / 1000, 0)
    const isFont = path => path.endsWith('.woff2')
    goals.push(['first page, all that it loads but the font', sizeOf(files.filter(path => !isFont(path))), 60, 'kB'])
    rows.push(`| the font, which comes after the text | ${Math.round(sizeOf(files.filter(isFont)))} kB |`)
    goals.push(['the same, by this program', median(times) / 1000, 1, 's'])
  }

  /** The paths of what a page loads before it is shown: files that it names, and modules that they import. */
  async function loaded() {
    const found = ['/login']
    const { body } = await status(`${one.url}/login`, HTML)
    const add = async paths => {
      const unseen = [...new Set(paths)].filter(path => !found.includes(path))
      found.push(...unseen)
      await Promise.all(
        unseen.map(async path => {
          const text = (await status(one.url + path)).body
          if (path.endsWith('.js'))
            await add([...text.matchAll(/(?:\bfrom|\bimport)\s*"\.\/([^"]+)"/g)].map(([, name]) => `/assets/${name}`))
        }),
      )
    }
    await add([...body.matchAll(/(?:src|href)="(\/[^"]+\.(?:js|css|woff2))"/g)].map(([, path]) => path))
    return found
  }

  async function commands() {
    const all = { floor: [], create: [] }
    for (let run = 0; run < RUNS; run++) {
      const began = performance.now()
      spawnSync(process.execPath, [devctl, '--version'])
      all.floor.push(since(began))
      all.create.push((await timed(name, `namespace create ${name}-${run}`)).milliseconds)
    }
    goals.push(['`namespace create`, the whole command', median(all.create), 400, 'ms'])
    rows.push(`| \`devctl --version\` beside it, the floor | ${median(all.floor).toFixed(0)} ms |`)
    for (let run = 0; run < RUNS; run++) await one.ok(name, `namespace delete ${name}-${run}`)
    await one.ok(name, `namespace use ${name}`)
  }

  async function wakes() {
    writeFileSync(join(one.folder, 'compose.yaml'), composeFile(1))
    await one.ok(name, 'deploy --wait --name nap')
    const url = page('s0', name)
    const kubectl = (...words) => one.cluster.kubectl(`--namespace=${name}`, ...words)
    const none = () => until('no Pods', async () => (await kubectl('get', 'pods', '--output=name')).trim() === '', 200)
    await until('it is served', isServed(url))
    const beyond = []
    let last = 0
    for (let run = 0; run < RUNS; run++) {
      await kubectl('scale', 'deployment/s0', '--replicas=0')
      await none()
      const own = until('it starts', isServed(url))
      await kubectl('scale', 'deployment/s0', '--replicas=1')
      const start = await own
      await one.ok(name, 'namespace sleep')
      await none()
      await until('the page of the platform', async () => (await status(url)).headers[WAKER] === '1')
      // One wake a minute by those who only open the page.
      if (run > 0) await until('a minute', async () => Date.now() - last > 61_000, 500)
      const began = performance.now()
      last = Date.now()
      await status(url, HTML)
      await until('it is awake', isServed(url))
      beyond.push((since(began) - start) / 1000)
      await until('all of it is awake', async () =>
        (await kubectl('get', 'namespace', name, '--output=jsonpath={.metadata.labels}')).includes('"Active"'),
      )
    }
    goals.push(["wake beyond the application's own start", Math.max(0, median(beyond)), 1, 's'])
    await one.ok(name, 'destroy --name nap')
  }

  async function runs() {
    repository = await one.repository(`bench-${process.pid}`, { 'compose.yaml': composeFile(5) })
    writeFileSync(join(one.folder, 'compose.yaml'), composeFile(5))
    const [here, inCluster, previews] = [[], [], []]
    for (let run = 0; run < RUNS; run++) {
      here.push((await timed(name, 'deploy --wait --name here')).milliseconds)
      await one.ok(name, 'destroy --name here')
      const line = `pipeline deploy --repository ${repository.html_url} --name there --wait`
      inCluster.push((await timed(name, line)).milliseconds)
      await one.ok(name, 'destroy --name there')
      const preview = `${name}-p${run}`
      const began = performance.now()
      await one.ok(name, `preview deploy ${preview} --repository ${repository.html_url} --branch main --wait`)
      await until('the preview is served', isServed(page('s0', preview)))
      previews.push(since(began) / 1000)
      await one.ok(name, `preview destroy ${preview}`)
    }
    goals.push([
      'run of 5 services beyond the same deploy from here',
      (median(inCluster) - median(here)) / 1000,
      5,
      's',
    ])
    rows.push(`| that deploy from here | ${(median(here) / 1000).toFixed(1)} s |`)
    goals.push(['preview of 5 services to its address', median(previews), 20, 's'])
  }

  async function revoked() {
    const file = JSON.parse(spawnSync('cat', [join(one.folder, name, 'contexts.json')], { encoding: 'utf8' }).stdout)
    const login = Object.values(file.contexts)[0].token
    const call = async (method, path, token, body) => {
      const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) }
      const found = await one.fetch(`${one.url}/api/v1${path}`, { method, headers, body: body && JSON.stringify(body) })
      return { status: found.status, body: found.body === '' ? undefined : JSON.parse(found.body) }
    }
    const made = (await call('POST', '/me/tokens', login, { label: 'bench' })).body
    const { token } = (await call('POST', '/kube-token', made.token)).body
    const server = spawnSync(
      'kubectl',
      ['config', 'view', '--minify', '--output=jsonpath={.clusters[0].cluster.server}'],
      {
        encoding: 'utf8',
      },
    ).stdout
    const asKubernetes = async () => {
      const headers = { authorization: `Bearer ${token}` }
      return (await one.fetch(`${server}/apis/authorization.k8s.io/v1/`, { headers })).status
    }
    if ((await asKubernetes()) === 401) throw new Error('the token of Kubernetes is not good at all')
    const began = performance.now()
    await call('POST', '/auth/logout', made.token)
    await until('the platform refuses it', async () => (await call('GET', '/me', made.token)).status === 401)
    goals.push(['a revoked token: the platform', since(began) / 1000, 1, 's'])
    await until('Kubernetes refuses it', async () => (await asKubernetes()) === 401, 100)
    goals.push(['the same: Kubernetes', since(began) / 1000, 15, 's'])
  }
}

/** Loads the installation helper of the tests, bundled for Node.js. */
async function load() {
  const outfile = join(root, 'dist/bench-installation.mjs')
  await build({
    entryPoints: [join(root, 'test/pods/platform/installation.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'error',
  })
  return import(outfile)
}

/** Services with images that the node has; the first has an address. */
function composeFile(count) {
  const image = process.env.BENCH_IMAGE ?? 'nginx:1.27-alpine'
  const services = Array.from({ length: count }, (_, at) => {
    const port = at === 0 ? 'ports: ["80:80"]' : 'expose: ["80"]'
    return `  s${at}: {image: "${image}", ${port}, healthcheck: {test: "true", interval: 1s}}\n`
  })
  return `name: bench\nservices:\n${services.join('')}`
}
