// Makes the single executables: Node.js, the program and the agent in one file for each processor.
//   npm run executable                         # for all processors, in dist/executable
//   npm run executable -- amd64 --output FOLDER
//   npm run executable -- amd64 --fetch          # only fetches Node.js, which npm then keeps
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { fetchNode, OWN, PROCESSORS } from './node.mjs'
import { run } from './run.mjs'

const root = join(import.meta.dirname, '../..')
/** Name of the resource with the program, and the text of Node.js that says whether there is one: documented by Node.js. */
const RESOURCE = ['NODE_SEA_BLOB', '--sentinel-fuse', 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2']

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { output: { type: 'string', default: join(root, 'dist/executable') }, fetch: { type: 'boolean' } },
})
const folder = mkdtempSync(join(tmpdir(), 'devctl-executable-'))
try {
  if (OWN === undefined) throw new Error('executables are made on Linux, on x64 or arm64')
  for (const processor of positionals.length > 0 ? positionals : Object.keys(PROCESSORS)) {
    const node = fetchNode(processor, folder)
    if (!values.fetch) make(processor, node)
  }
} finally {
  rmSync(folder, { recursive: true })
}

function make(processor, node) {
  const path = join(values.output, `devctl-linux-${processor}`)
  mkdirSync(values.output, { recursive: true })
  copyFileSync(node, path)
  chmodSync(path, 0o755)
  run(process.execPath, [
    join(root, 'node_modules/postject/dist/cli.js'),
    path,
    RESOURCE[0],
    resource(),
    ...RESOURCE.slice(1),
  ])
  console.log(path)
}

/** Writes the resource with the program, and returns its path. Node.js of the version that will read it writes it. */
function resource() {
  const [config, output] = ['sea.json', 'sea.blob'].map(name => join(folder, name))
  const settings = {
    main: join(root, 'scripts/executable/main.cjs'),
    output,
    assets: assets(),
    disableExperimentalSEAWarning: true,
    // Node.js reads no options of its own after it: it also has an `--env-file`, and obeys the NODE_OPTIONS in that file.
    execArgv: ['--'],
  }
  writeFileSync(config, JSON.stringify(settings))
  run(fetchNode(OWN, folder), ['--experimental-sea-config', config])
  return output
}

/** The files that the executable contains, by their paths in the package. */
function assets() {
  const parts = readdirSync(join(root, 'dist/bin')).filter(name => name.endsWith('.cjs'))
  const paths = ['package.json', 'dist/agent/agent.cjs', ...parts.map(name => `dist/bin/${name}`)]
  return Object.fromEntries(paths.map(path => [path, join(root, path)]))
}
