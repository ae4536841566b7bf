import { chmodSync, copyFileSync, cpSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fetchNode, OWN } from './node.mjs'
import { run } from './run.mjs'

const root = join(import.meta.dirname, '../..')
/**
 * Arguments of postject: the name of the resource that contains the program, and the mark in Node.js that shows if the
 * executable has this resource.
 */
const RESOURCE = ['NODE_SEA_BLOB', '--sentinel-fuse', 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2']

/** Writes the executable for a processor to a path. Files that several executables share are kept in `folder`. */
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

/**
 * Writes the resource with the program, and returns its path. The resource must be written by the same version of
 * Node.js that reads it.
 */
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

/**
 * Returns the files that the executable contains, by name: files of the package, and the compiled code if this machine
 * can run the executable.
 */
function assets(processor, folder) {
  const parts = readdirSync(join(root, 'dist/bin')).filter(name => name.endsWith('.cjs'))
  const paths = ['package.json', 'dist/agent/agent.cjs', ...parts.map(name => `dist/bin/${name}`)]
  const files = paths.map(path => [`devctl/${path}`, join(root, path)])
  return Object.fromEntries([...files, ...(processor === OWN ? compiledCode(parts, folder) : [])])
}

/**
 * Returns the names and paths of the compiled code of typical runs (scripts/bundle.mjs). Compiled code can only be
 * written by the same Node.js that reads it.
 */
function compiledCode(parts, folder) {
  const copy = join(folder, 'compiled')
  const paths = ['package.json', 'bin/devctl.cjs', ...parts.map(name => `dist/bin/${name}`)]
  for (const path of paths) cpSync(join(root, path), join(copy, path))
  run(fetchNode(OWN, folder), [join(root, 'scripts/bundle.mjs'), '--keep-compiled-code', copy])
  const names = readdirSync(join(copy, 'dist/bin')).filter(name => name.endsWith('.cache'))
  return names.map(name => [`devctl/dist/bin/${name}`, join(copy, 'dist/bin', name)])
}
