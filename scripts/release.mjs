// Makes the files of a release: the package for npm, an archive with the executable for each processor, the manifest of
// the kubectl plugin, and their checksums. Leaves the executables in dist/executable, for the image. Needs a build.
//   npm run release                                      # in dist/release
//   npm run release -- --tag v0.1.0 --output FOLDER      # fails if the version in package.json is not 0.1.0
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { makeExecutable } from './executable/make.mjs'
import { fetchNode, PROCESSORS } from './executable/node.mjs'
import { archive } from './release/archive.mjs'
import { checksum, checksums } from './release/checksums.mjs'
import { packPackage } from './release/package.mjs'
import { checkTag } from './release/version.mjs'

const root = join(import.meta.dirname, '..')
const { values } = parseArgs({
  options: { output: { type: 'string', default: join(root, 'dist/release') }, tag: { type: 'string' } },
})
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
checkTag(values.tag, version)
rmSync(values.output, { recursive: true, force: true })
mkdirSync(values.output, { recursive: true })
const folder = mkdtempSync(join(tmpdir(), 'devctl-release-'))
try {
  packPackage(values.output)
  for (const processor of Object.keys(PROCESSORS)) archiveExecutable(processor)
  writeFileSync(join(values.output, 'devctl.yaml'), krewManifest())
  const names = readdirSync(values.output).sort()
  writeFileSync(join(values.output, 'SHA256SUMS'), checksums(values.output, names))
  for (const name of [...names, 'SHA256SUMS']) console.log(join(values.output, name))
} finally {
  rmSync(folder, { recursive: true })
}

/** Writes an archive with the executable for a processor, and the licences of the code in it. */
function archiveExecutable(processor) {
  const content = join(folder, `content-${processor}`)
  const executable = join(root, 'dist/executable', `devctl-linux-${processor}`)
  for (const path of [content, dirname(executable)]) mkdirSync(path, { recursive: true })
  makeExecutable(processor, executable, folder)
  copyFileSync(executable, join(content, 'devctl'))
  for (const name of ['LICENSE', 'dist/THIRD-PARTY-LICENSES'])
    copyFileSync(join(root, name), join(content, basename(name)))
  copyFileSync(join(fetchNode(processor, folder), '../../LICENSE'), join(content, 'LICENSE-NODE'))
  archive(content, join(values.output, `devctl-linux-${processor}.tar.gz`))
}

function krewManifest() {
  const template = readFileSync(join(root, 'integrations/krew/devctl.yaml'), 'utf8')
  const text = template.slice(template.indexOf('apiVersion')).replaceAll('VERSION', version)
  return text.replace(/SHA256_(\w+)/g, (_, processor) =>
    checksum(join(values.output, `devctl-linux-${processor.toLowerCase()}.tar.gz`)),
  )
}
