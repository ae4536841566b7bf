import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import type { KubernetesObject, Manifest } from '../../../constructs/manifest.ts'
import { forControllers, type MarkOptions } from '../../../gitops/agents/marks.ts'
import { buildFolder } from '../../../gitops/repository/layout/build.ts'
import { toBase, toOverlay } from '../../../gitops/repository/layout/overlay.ts'
import { type Case, exampleCases, goldenCases } from '../../support/cases.ts'
import { findCluster } from '../../support/cluster/cluster.ts'
import { documentsOf } from '../../support/documents.ts'
import { pairs } from '../../support/gitops/random-manifests.ts'
import { run } from '../../support/run.ts'
import { TAKES_ALL } from '../../support/takes-all.ts'

/** Pairs of option sets, whose results are base and overlay, in both directions. */
const CHANGES: readonly {
  readonly from: readonly string[]
  readonly to: readonly string[]
  readonly digests?: true
  readonly marks?: true
}[] = [
  {
    from: ['--name', 'app'],
    to: ['--name', 'app', '--namespace', 'staging', '--domain', 'dev.example.com'],
    marks: true,
  },
  {
    from: ['--name', 'app', '--namespace', 'shop', '--domain', 'a.example.com'],
    to: ['--name', 'app-staging', '--namespace', 'staging', '--domain', 'b.example.com', '--gateway', 'infra/public'],
  },
  {
    from: ['--name', 'app', '--domain', 'a.example.com', '--start-order', 'client'],
    to: ['--name', 'app', '--namespace', 'staging', '--domain', 'b.example.com', '--policy', 'restricted'],
    digests: true,
  },
]

const cluster = findCluster()
let folder = ''

// The tests need only kubectl, and no cluster.
describe.skipIf(cluster === undefined)('output of kustomize for an overlay', () => {
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'overlay-'))
  })
  afterAll(() => {
    rmSync(folder, { recursive: true })
    cluster!.close()
  })

  const cases = [...examples(), ...sampled()]
  for (const [index, { one, change }] of cases.entries()) {
    // One direction per case, since each starts kubectl; both in `npm run test:long`.
    const ways = ['to', 'back'].filter((_, at) => TAKES_ALL || at === index % 2)
    test.concurrent(`change ${CHANGES.indexOf(change)} of ${one.name} builds ${ways.join(' and ')}`, async () => {
      const from = await rendered(one, change.from)
      // Many applications cannot meet the policy.
      let to = (await rendered(one, change.to)) ?? (await rendered(one, without('--policy', change.to)))
      // A Gateway cannot be combined with the options of Ingresses that some cases have.
      to ??= await rendered(one, without('--gateway', change.to))
      if (!from || !to) throw new Error('does not compile with these options')
      const wanted = change.digests ? withDigests(to) : change.marks ? forControllers(to, marks) : to
      for (const way of ways) {
        const [base, overlaid] = way === 'to' ? [from, wanted] : [wanted, from]
        await expectBuilds(`${one.name}-${CHANGES.indexOf(change)}-${way}`, base, overlaid)
      }
    })
  }

  test('an overlay of any two sets of manifests builds to the wanted objects', async () => {
    let count = 0
    const builds = fc.asyncProperty(pairs, ([base, wanted]) => expectBuilds(`random-${count++}`, base, wanted))
    await fc.assert(builds, { numRuns: TAKES_ALL ? 120 : 4 })
  })
})

const marks: MarkOptions = {
  createNamespace: { name: 'staging', level: 'baseline', source: 'devctl.yml#environments.staging' },
}

/** Returns every fourth example, with one change each; for `npm run test:long`, all examples with every change. */
function examples() {
  return exampleCases().flatMap((one, index) =>
    CHANGES.filter((_, at) => TAKES_ALL || (index % 4 === 0 && at === (index / 4) % CHANGES.length)).map(change => ({
      one,
      change,
    })),
  )
}

/** Returns one in eighty golden cases that render, with one change each; all in `npm run test:long`. */
function sampled() {
  return goldenCases()
    .filter(({ command, status, directory }) => command === 'render' && status === undefined && compiles(directory))
    .map((one, index) => ({ one, change: CHANGES[index % CHANGES.length]! }))
    .filter((_, index) => TAKES_ALL || index % 80 === 0)
}

function compiles(directory: string): boolean {
  const said = join(directory, 'diagnostics.txt')
  return !existsSync(said) || !/^error\[/m.test(readFileSync(said, 'utf8'))
}

const without = (option: string, options: readonly string[]) =>
  options.filter((word, index) => word !== option && options[index - 1] !== option)

/** Renders a case with these options and its own other ones; undefined if it does not compile. */
async function rendered(one: Case, options: readonly string[]): Promise<readonly Manifest[] | undefined> {
  const { status, stdout } = await run(['render', ...options, '--include-secrets', ...withoutOurs(one.args)], {
    cwd: one.directory,
    env: one.env,
    stdin: one.stdin,
  })
  if (status !== 0) return undefined
  return documentsOf(stdout).map(({ text, object }) => ({
    source: text.slice(2, text.indexOf('\n')),
    folder: object.metadata.labels?.['dev.platform/service'] ?? '_shared',
    object,
  }))
}

const OURS = ['--name', '--namespace', '--domain', '--gateway', '--routes', '--policy', '--start-order', '--loglevel']
const isOurs = (word: string | undefined) => OURS.includes(word ?? '')

function withoutOurs(args: readonly string[]): readonly string[] {
  return args.filter((word, index) => !isOurs(word) && !isOurs(args[index - 1]) && word !== '--include-secrets')
}

/** Returns the manifests with every image by a digest, and one more replica. */
function withDigests(manifests: readonly Manifest[]): readonly Manifest[] {
  return manifests.map(manifest => {
    const text = JSON.stringify(manifest.object, (key, value) => {
      if (key === 'replicas') return value + 1
      if (key !== 'image' || typeof value !== 'string') return value
      return `${value.replace(/(:[\w.-]+)?(@.*)?$/, '')}@sha256:${Buffer.from(value).toString('hex').padEnd(64, '0').slice(0, 64)}`
    })
    return { ...manifest, object: JSON.parse(text) }
  })
}

async function expectBuilds(name: string, base: readonly Manifest[], wanted: readonly Manifest[]): Promise<void> {
  const at = join(folder, name.replaceAll('/', '-'))
  const { name: baseName, files } = toBase(base)
  write(join(at, 'apps/app', baseName), files)
  const overlay = join(at, 'environments/staging/app')
  write(overlay, toOverlay(base, wanted, { basePath: `../../../apps/app/${baseName}` }))
  const built = parseAllDocuments(await cluster!.kubectl('kustomize', overlay)).map(document => document.toJS())
  expect(byName(built)).toEqual(byName(wanted.map(({ object }) => object)))
  const ours = await buildFolder(overlay, path => (isFile(path) ? readFileSync(path, 'utf8') : undefined))
  expect(byName(ours!)).toEqual(byName(built))
}

const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile()

function byName(objects: readonly KubernetesObject[]): Readonly<Record<string, KubernetesObject>> {
  const named = objects.filter(Boolean).map(object => [`${object.kind}/${object.metadata.name}`, object] as const)
  expect(new Set(named.map(([name]) => name)).size).toBe(named.length)
  return Object.fromEntries(named)
}

function write(at: string, files: ReadonlyMap<string, string>): void {
  for (const [path, text] of files) {
    mkdirSync(dirname(join(at, path)), { recursive: true })
    writeFileSync(join(at, path), text)
  }
}
