// Makes the single executables: Node.js, the program and the agent in one file for each processor. Needs a build.
//   npm run executable                           # for all processors, in dist/executable
//   npm run executable -- amd64 --output FOLDER
//   node scripts/executable.mjs --fetch amd64    # only fetches Node.js, which npm then keeps
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { makeExecutable } from './executable/make.mjs'
import { fetchArchive, PROCESSORS } from './executable/node.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    output: { type: 'string', default: join(import.meta.dirname, '../dist/executable') },
    fetch: { type: 'boolean' },
  },
})
const folder = mkdtempSync(join(tmpdir(), 'devctl-executable-'))
try {
  for (const processor of positionals.length > 0 ? positionals : Object.keys(PROCESSORS)) {
    if (values.fetch) fetchArchive(processor, folder)
    else {
      const path = join(values.output, `devctl-linux-${processor}`)
      mkdirSync(values.output, { recursive: true })
      makeExecutable(processor, path, folder)
      console.log(path)
    }
  }
} finally {
  rmSync(folder, { recursive: true })
}
