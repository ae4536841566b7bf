// Shows the pages of the platform without a cluster and without a platform: `npm run dev:web`, and `npm run dev:web --
// --port 8080` on another port. Answers the routes of the API from the samples in test/support/platform/web-samples.
// A change of the pages or of the samples builds them again and reloads the browser.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { context, stop } from 'esbuild'
import { webDocument, webIndex, webOptions } from './bundle-web.mjs'

const root = join(import.meta.dirname, '..')
const SAMPLES = 'test/support/platform/web-samples'
/** Folder for modules that are loaded from the results of builds. */
const OUTPUT = 'dist/dev-web'
/** Port that is tried first if none is given, and number of ports that are tried. */
const PORT = 5173
const PORTS = 20

/**
 * URL paths that are not part of the platform: the script that reloads a page, and the event stream that the script
 * reads.
 */
const RELOAD = '/dev/reload.js'
const CHANGES = '/dev/changes'
const RELOADED = `<script type="module" src="${RELOAD}"></script>`
/**
 * Script that reloads a page after a change. Reads the event stream only while the page is visible, because browsers
 * limit the number of connections to one host.
 */
const RELOAD_SCRIPT = `
let shown, source
const follow = () => {
  source?.close()
  if (document.visibilityState === 'hidden') return
  source = new EventSource('${CHANGES}')
  source.onmessage = ({ data }) => {
    if (shown !== undefined && shown !== data) location.reload()
    shown = data
  }
}
document.addEventListener('visibilitychange', follow)
follow()
`
const NOT_BUILT = `<!doctype html><title>devctl</title>${RELOADED}<p>The pages are not built: see the terminal.`

/**
 * Makes esbuild watch the HTML document, which is not a module, by adding it to the watched files of the first module.
 */
const documentWatched = {
  name: 'document watched',
  setup: ({ onLoad }) =>
    onLoad({ filter: /web[\\/]main\.tsx$/ }, ({ path }) => ({
      contents: readFileSync(path),
      loader: 'tsx',
      watchFiles: [path, webDocument],
    })),
}

const wanted = readPort()
process.setSourceMapsEnabled(true)
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => {
    // Without this call, the process of esbuild may wait for the answer of a plugin for ever.
    stop()
    process.exit(0)
  })

/** Results of the last builds without errors: the pages, and the module with the samples. */
let pages
let samples
/** State of the sample platform, which is kept when the pages change. */
let team
/** Server that answers with `pages`, `samples` and `team`. */
let app
let version = 0
/** Responses of the event stream, one for each open page. */
const waiting = new Set()
/** Resolves when the results of all finished builds are processed, one after the other. */
let work = Promise.resolve()

const port = await listen()
await Promise.all([watchPages(), watchSamples()])
console.log(`The pages of the platform, with sample data: http://127.0.0.1:${port}/

You are ann, an administrator. Requests that change something are accepted: the change is kept in memory until the
samples change or this ends. Nothing else happens, so a deploy waits in its queue. Ctrl-C ends it.
A change of platform/web or of ${SAMPLES} reloads the browser.`)

function readPort() {
  const { values } = parseArgs({ options: { port: { type: 'string' } } })
  if (values.port === undefined) return undefined
  if (/^\d{1,5}$/.test(values.port) && Number(values.port) < 65_536) return Number(values.port)
  console.error('usage: npm run dev:web -- [--port PORT]')
  process.exit(2)
}

/** Builds the pages, and builds them again after each change of their source files. */
function watchPages() {
  return watch(
    { ...webOptions, minify: false, sourcemap: 'linked', plugins: [...webOptions.plugins, documentWatched] },
    ({ metafile, outputFiles }) => {
      pages = { index: webIndex(metafile).replace('</head>', `${RELOADED}</head>`), files: outputFiles }
    },
  )
}

/** Builds the samples with the server that answers from them, and builds both again after each change. */
function watchSamples() {
  return watch(
    {
      absWorkingDir: root,
      logLevel: 'warning',
      entryPoints: [`${SAMPLES}/sample-platform.ts`],
      outdir: OUTPUT,
      bundle: true,
      platform: 'node',
      target: 'node20.19',
      format: 'esm',
      packages: 'external',
      sourcemap: 'inline',
    },
    async ({ outputFiles }) => {
      samples = await load(outputFiles[0].contents)
      team = samples.makeTeam(Date.now())
    },
  )
}

/**
 * Builds, and builds again after each change. `use` receives the result of each build without errors. Resolves after
 * the first build, even if it has errors, which esbuild prints.
 */
function watch(options, use) {
  return new Promise((resolve, reject) => {
    const whenBuilt = {
      name: 'when built',
      setup: ({ onEnd }) =>
        onEnd(result => {
          const isBuilt = result.errors.length === 0
          if (isBuilt)
            work = work
              .then(() => use(result))
              .then(renew)
              .catch(error => console.error(error))
          void work.then(resolve)
        }),
    }
    context({ ...options, write: false, plugins: [...(options.plugins ?? []), whenBuilt] })
      .then(one => one.watch())
      .catch(reject)
  })
}

/**
 * Loads a module from its text. Writes it to a folder of the project for a moment, so that its imports of packages are
 * found.
 */
async function load(text) {
  mkdirSync(join(root, OUTPUT), { recursive: true })
  const folder = mkdtempSync(join(root, OUTPUT, 'samples-'))
  try {
    const file = join(folder, 'samples.mjs')
    writeFileSync(file, text)
    return await import(pathToFileURL(file))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Replaces the server after a build, and reloads the pages that are open. */
async function renew() {
  if (!pages || !samples) return
  const last = app
  const next = samples.createSamplePlatform(team, samples.toWebFiles(pages.index, pages.files))
  await next.ready()
  app = next
  version++
  for (const response of waiting) tellVersion(response)
  await last?.close()
}

/**
 * Sends the current version of the pages. An open page that was loaded with another version reloads itself, also after
 * a restart of this script.
 */
function tellVersion(response) {
  response.write(`data: ${process.pid}-${version}\n\n`)
}

function answer(request, response) {
  if (request.url === RELOAD) {
    response.writeHead(200, { 'content-type': 'text/javascript; charset=utf-8', 'cache-control': 'no-store' })
    return response.end(RELOAD_SCRIPT)
  }
  if (request.url === CHANGES) {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
    waiting.add(response.once('close', () => waiting.delete(response)))
    return tellVersion(response)
  }
  if (app) return app.routing(request, response)
  response.writeHead(503, { 'content-type': 'text/html; charset=utf-8' }).end(NOT_BUILT)
}

/**
 * Listens on the wanted port, otherwise on the first free port from `PORT` on, and returns the port. Ends the process
 * if no port is free.
 */
async function listen() {
  const ports = wanted === undefined ? Array.from({ length: PORTS }, (_, index) => PORT + index) : [wanted]
  for (const port of ports) {
    const server = createServer(answer)
    const isOpen = await new Promise((resolve, reject) => {
      server
        .once('listening', () => resolve(true))
        .once('error', error => {
          if (error.code === 'EADDRINUSE') resolve(false)
          else reject(error)
        })
      server.listen(port, '127.0.0.1')
    })
    if (isOpen) return server.address().port
  }
  console.error(wanted === undefined ? `ports ${PORT} to ${PORT + PORTS - 1} are in use` : `port ${wanted} is in use`)
  process.exit(1)
}
