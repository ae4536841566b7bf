import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../../support/cases.ts'

/** Texts that look like the path of a module and are none: exports of the package, placeholders, codes of diagnostics. */
const OTHER =
  /^(?:devctl\/(?:operations|constructs)|dist\/\w+|golden\/compose\/FAMILY.*|.*\/NAME(?:\.test)?\.ts|routes\/no-domain)$/

const withoutExtension = (path: string) => path.replace(/(?:\.test)?\.(?:tsx?|mjs)$/, '')

/** All folders and modules, also by the ends of their paths: `load/decode` is one of them. */
function namesOfModules(): ReadonlySet<string> {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root })
  const names = new Set<string>()
  for (const path of listed.toString().split('\0')) {
    const parts = withoutExtension(path).split('/')
    for (let end = 1; end <= parts.length; end++)
      for (let start = 0; start < end; start++) names.add(parts.slice(start, end).join('/'))
  }
  return names
}

test.each(['ARCHITECTURE.md', 'CONTRIBUTING.md'])('%s names modules and folders that exist', document => {
  const names = namesOfModules()
  const text = readFileSync(join(root, document), 'utf8')
  const missing = [...text.matchAll(/`([a-z][\w-]*(?:\/[\w.-]+)+)\/?`/g)]
    .map(([, path]) => path!)
    .filter(path => !OTHER.test(path) && !names.has(withoutExtension(path)) && !names.has(path))
  expect(missing).toEqual([])
})
