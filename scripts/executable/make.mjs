import { chmodSync, copyFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fetchNode, OWN } from './node.mjs'
import { run } from './run.mjs'

const root = join(import.meta.dirname, '../..')
/** Name of the resource with the program, and the mark in Node.js that says whether there is one. */
const RESOURCE = ['NODE_SEA_BLOB', '--sentinel-fuse', 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2']

/** Makes the executable of a processor at a path. Files that the executables share are kept in `folder`. */
export function makeExecutable(processor, path, folder) {
  if (OWN === undefined) throw new Error('executables are made on Linux, on x64 or arm64')
  copyFileSync(fetchNode(processor, folder), path)
  chmodSync(path, 0o755)
  const [name, ...fuse] = RESOURCE
  run(process.execPath, [join(root, 'node_modules/postject/dist/cli.js'), path, name, resource(folder), ...fuse])
}

/** Writes the resource with the program, and returns its path. Node.js of the version that will read it writes it. */
function resource(folder) {
  const [config, output] = ['sea.json', 'sea.blob'].map(name => join(folder, name))
  const settings = {
    main: join(root, 'scripts/executable/main.cjs'),
    output,
    assets: assets(),
    disableExperimentalSEAWarning: true,
    // Node.js reads no options of its own after it: it has an `--env-file`, too, and obeys NODE_OPTIONS in that file.
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
