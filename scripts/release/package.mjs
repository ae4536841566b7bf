// Packs the package for npm. Its pages have no dead links: they link what the package lacks in the repository.
//   node scripts/release/package.mjs FOLDER     # writes the tarball into the folder, and prints its path
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, posix } from 'node:path'
import { pathToFileURL } from 'node:url'

const root = join(import.meta.dirname, '../..')

/** Packs the npm package from the built files. Writes the tarball into a folder, and returns its path. */
export function packPackage(destination) {
  const folder = mkdtempSync(join(tmpdir(), 'devctl-package-'))
  try {
    stagePackage(folder)
    const [{ filename }] = npmPack(folder, '--pack-destination', destination)
    return join(destination, filename)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/**
 * Copies the files of the npm package into a folder, and returns their paths. Changes the links of its pages like
 * `packagedPage`.
 */
export function stagePackage(folder) {
  const [{ files }] = npmPack(root, '--dry-run')
  const paths = files.map(({ path }) => path)
  for (const path of paths) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    if (path.endsWith('.md')) writeFileSync(join(folder, path), packagedPage(path, paths))
    else copyFileSync(join(root, path), join(folder, path))
  }
  return paths
}

/**
 * Returns the text of a page of the package. `page` is its path relative to the root. Links to files that are not among
 * `paths` lead to the repository instead.
 */
function packagedPage(page, paths) {
  let isCode = false
  const lines = readFileSync(join(root, page), 'utf8').split('\n')
  return lines
    .map(line => {
      if (line.startsWith('```')) isCode = !isCode
      if (isCode) return line
      return line.replace(
        /(!?)(\[(?:[^\]`]|`[^`]*`)*\])\(([^)\s]+)\)/g,
        (_, mark, text, target) => `${mark}${text}(${packagedLink(page, target, { paths, isPicture: mark !== '' })})`,
      )
    })
    .join('\n')
}

function packagedLink(page, link, { paths, isPicture }) {
  const [path, anchor] = link.split('#')
  if (path === '' || /^[a-z]+:/.test(link)) return link
  const target = posix.normalize(posix.join(posix.dirname(page), path)).replace(/\/$/, '')
  if (paths.some(one => one === target || one.startsWith(`${target}/`))) return link
  const kind = isPicture ? 'raw' : statSync(join(root, target)).isDirectory() ? 'tree' : 'blob'
  return `${repository()}/${kind}/main/${target}${anchor === undefined ? '' : `#${anchor}`}`
}

/** Returns the address of the repository, from package.json. */
export function repository() {
  const { url } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).repository
  return url.replace(/^git\+/, '').replace(/\.git$/, '')
}

/** Runs `npm pack` in a folder, and returns its JSON output about the package. Throws an Error if it fails. */
function npmPack(folder, ...words) {
  const { status, stdout, stderr } = spawnSync('npm', ['pack', '--ignore-scripts', '--json', ...words], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  })
  if (status !== 0) throw new Error(`npm pack failed: ${stderr}`)
  return JSON.parse(stdout)
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [destination] = process.argv.slice(2)
  if (destination === undefined) throw new Error('name the folder for the tarball')
  console.log(packPackage(destination))
}
