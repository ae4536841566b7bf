import { chmodSync, copyFileSync, cpSync, readdirSync, writeFileSync } from 'node:fs'
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
  run(process.execPath, [
    join(root, 'node_modules/postject/dist/cli.js'),
    path,
    name,
    resource(processor, folder),
    ...fuse,
  ])
}

/** Writes the resource with the program, and returns its path. Node.js of the version that will read it writes it. */
function resource(processor, folder) {
  const [config, output] = ['sea.json', 'sea.blob'].map(name => join(folder, name))
  const settings = {
    main: join(root, 'scripts/executable/main.cjs'),
    output,
    assets: assets(processor, folder),
    disableExperimentalSEAWarning: true,
    // Node.js reads no options of its own after it: it has an `--env-file`, too, and obeys NODE_OPTIONS in that file.
    execArgv: ['--'],
  }
  writeFileSync(config, JSON.stringify(settings))
  run(fetchNode(OWN, folder), ['--experimental-sea-config', config])
  return output
}

/** Returns the files that the executable contains, by name: the paths in the package, and the compiled code. */
function assets(processor, folder) {
  const parts = readdirSync(join(root, 'dist/bin')).filter(name => name.endsWith('.cjs'))
  const paths = ['package.json', 'dist/agent/agent.cjs', ...parts.map(name => `dist/bin/${name}`)]
  const files = paths.map(path => [`devctl/${path}`, join(root, path)])
  return Object.fromEntries([...files, ...(processor === OWN ? compiledCode(parts, folder) : [])])
}

/** Returns the compiled code of typical runs; only the Node.js that will read it can write it (scripts/bundle.mjs). */
function compiledCode(parts, folder) {
  const copy = join(folder, 'compiled')
  const paths = ['package.json', 'bin/devctl.cjs', ...parts.map(name => `dist/bin/${name}`)]
  for (const path of paths) cpSync(join(root, path), join(copy, path))
  run(fetchNode(OWN, folder), [join(root, 'scripts/bundle.mjs'), '--keep-compiled-code', copy])
  const names = readdirSync(join(copy, 'dist/bin')).filter(name => name.endsWith('.cache'))
  return names.map(name => [`devctl/dist/bin/${name}`, join(copy, 'dist/bin', name)])
}
