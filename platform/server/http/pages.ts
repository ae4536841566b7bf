import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { PAGES } from '../../api/pages.ts'
import { API } from '../../api/prefix.ts'
import { PlatformError } from './platform-error.ts'

/** Files of the web UI. They are read once at startup, so a request cannot name any other file on the machine. */
export interface WebFiles {
  readonly index: WebFile
  /** Files by name. Each name contains a hash of the content. */
  readonly assets: ReadonlyMap<string, WebFile>
}

interface WebFile {
  readonly type: string
  readonly plain: Buffer
  /** Absent for formats that are already compressed. */
  readonly gzip?: Buffer
  readonly brotli?: Buffer
  readonly tag: string
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
}

/** Loads the web UI from its build folder. Returns undefined if the folder does not exist. */
export function readWebFiles(folder: string): WebFiles | undefined {
  try {
    const names = readdirSync(join(folder, 'assets'))
    return {
      index: readWebFile(join(folder, 'index.html')),
      assets: new Map(names.map(name => [name, readWebFile(join(folder, 'assets', name))])),
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined // what node throws
    throw error
  }
}

function readWebFile(path: string): WebFile {
  const plain = readFileSync(path)
  const isText = extname(path) !== '.woff2'
  return {
    ...toWebFile(path, plain),
    ...(isText && { gzip: gzipSync(plain, { level: 9 }), brotli: brotliCompressSync(plain) }),
  }
}

/** Returns a file that is sent uncompressed. The extension of its name determines its type. */
export const toWebFile = (name: string, plain: Buffer): WebFile => ({
  type: TYPES[extname(name)] ?? 'application/octet-stream',
  plain,
  tag: `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`,
})

/**
 * Content security policy: scripts, styles and fonts are loaded only from this host, inline code and frames are
 * forbidden, and forms are submitted only to this host.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

/** Headers of all responses, including those of the API. */
const HEADERS: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-frame-options': 'DENY',
  'strict-transport-security': 'max-age=31536000',
}

/** Registers the pages of the UI and their files, and the security headers. */
export function registerPages(app: FastifyInstance, web: WebFiles | undefined): void {
  app.addHook('onSend', async (_, reply) => {
    for (const [name, value] of Object.entries(HEADERS)) if (!reply.hasHeader(name)) reply.header(name, value)
    if (!reply.hasHeader('content-security-policy'))
      reply.header('content-security-policy', "default-src 'none'; frame-ancestors 'none'")
  })
  const nothing = (reply: FastifyReply) =>
    reply.code(404).send(new PlatformError(404, 'no-route', 'there is nothing at this address').body)
  if (!web) {
    app.setNotFoundHandler((_, reply) => nothing(reply))
    return
  }
  const page = (request: FastifyRequest, reply: FastifyReply, status = 200) => {
    reply.code(status).header('content-security-policy', POLICY).header('cache-control', 'no-cache')
    return answer(request, reply, web.index)
  }
  for (const path of Object.values(PAGES)) app.get(path, async (request, reply) => page(request, reply))
  for (const [name, file] of web.assets)
    app.get(`/assets/${name}`, async (request, reply) => {
      reply.header('cache-control', 'public, max-age=31536000, immutable')
      return answer(request, reply, file)
    })
  // A browser that requests an unknown page gets an HTML page.
  app.setNotFoundHandler((request, reply) => {
    const isPage = request.method === 'GET' && /\btext\/html\b/.test(request.headers.accept ?? '')
    if (isPage && !request.url.startsWith(`${API}/`)) return page(request, reply, 404)
    return nothing(reply)
  })
}

function answer(request: FastifyRequest, reply: FastifyReply, file: WebFile): FastifyReply {
  reply.header('etag', file.tag).header('vary', 'accept-encoding').type(file.type)
  if (request.headers['if-none-match'] === file.tag && reply.statusCode === 200) return reply.code(304).send()
  const accepted = String(request.headers['accept-encoding'] ?? '')
  if (file.brotli && /\bbr\b/.test(accepted)) return reply.header('content-encoding', 'br').send(file.brotli)
  if (file.gzip && /\bgzip\b/.test(accepted)) return reply.header('content-encoding', 'gzip').send(file.gzip)
  return reply.send(file.plain)
}
