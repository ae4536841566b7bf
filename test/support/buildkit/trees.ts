import { chmod, link, lutimes, mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import fc from 'fast-check'

/** A context with its Dockerfile and its `.dockerignore`. */
export interface Tree {
  readonly entries: readonly Entry[]
  readonly dockerfile: string
  readonly dockerignore: readonly string[]
}

type Entry =
  | { readonly kind: 'file'; readonly path: string; readonly text: string; readonly mode: number }
  | { readonly kind: 'folder'; readonly path: string; readonly mode: number }
  | { readonly kind: 'symlink'; readonly path: string; readonly target: string }
  | { readonly kind: 'link'; readonly path: string; readonly target: number }

const name = fc.constantFrom('a', 'b', 'c', 'ab', 'a.b', 'a-b', 'a b', 'B', 'é', 'a, b', '.x', '[a]', 'a!', '#c')
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map(parts => parts.join('/'))

const entry: fc.Arbitrary<Entry> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('file' as const),
      path,
      text: fc.string({ maxLength: 20 }),
      mode: fc.constantFrom(0o644, 0o755, 0o600, 0o4755, 0o2644, 0o1644),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('folder' as const), path, mode: fc.constantFrom(0o755, 0o700, 0o1777) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('symlink' as const),
      path,
      target: fc.oneof(
        path,
        path.map(other => `../${other}`),
        path.map(other => `/${other}`),
        fc.constantFrom('.', '..', '../../../a', '/'),
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('link' as const), path, target: fc.nat(20) }) },
)

const patternPart = fc.oneof(
  { weight: 3, arbitrary: name.filter(text => !text.includes('[')) },
  { weight: 2, arbitrary: fc.constantFrom('*', '**', '?', 'a*', '*b', '[ab]', '[^a]', 'a?b', '\\a', '..', '.') },
)
const pattern = fc
  .record({
    isTakenBack: fc.boolean(),
    isRooted: fc.boolean(),
    parts: fc.array(patternPart, { minLength: 1, maxLength: 3 }),
    isFolder: fc.boolean(),
  })
  .map(
    ({ isTakenBack, isRooted, parts, isFolder }) =>
      `${isTakenBack ? '!' : ''}${isRooted ? '/' : ''}${parts.join('/')}${isFolder ? '/' : ''}`,
  )

const source = fc.oneof(fc.constant('.'), path, fc.constantFrom('a*', '*', '?', 'a/*', '*/b', '[ab]', '*/*'))
const copy = source.map(from => `COPY ${JSON.stringify([from, '/'])}`)

export const tree: fc.Arbitrary<Tree> = fc.record({
  entries: fc.array(entry, { maxLength: 14 }),
  dockerfile: fc.array(copy, { minLength: 1, maxLength: 2 }).map(copies => ['FROM scratch', ...copies, ''].join('\n')),
  dockerignore: fc.array(pattern, { maxLength: 5 }),
})

/**
 * Writes a tree; entries that cannot be beside the ones before are left out. Each tree has times of its own: buildctl
 * keeps one copy of the contexts of all builds and sends no file whose size and time are those of the copy.
 */
export async function writeTree(folder: string, { entries, dockerfile, dockerignore }: Tree): Promise<void> {
  const time = Date.now() / 1000
  for (const one of entries) await writeEntry(folder, one, entries, time).catch(() => {})
  await writeFile(join(folder, 'Dockerfile'), dockerfile)
  if (dockerignore.length > 0) await writeFile(join(folder, '.dockerignore'), dockerignore.join('\n'))
}

async function writeEntry(folder: string, one: Entry, entries: readonly Entry[], time: number): Promise<void> {
  const full = join(folder, one.path)
  await mkdir(dirname(full), { recursive: true })
  switch (one.kind) {
    case 'file':
      await writeFile(full, one.text, { flag: 'wx' })
      await chmod(full, one.mode)
      break
    case 'folder':
      await mkdir(full)
      await chmod(full, one.mode)
      break
    case 'symlink':
      await symlink(one.target, full)
      break
    case 'link':
      await link(join(folder, entries[one.target]?.path ?? 'Dockerfile'), full)
  }
  await lutimes(full, time, time + one.path.length)
}
