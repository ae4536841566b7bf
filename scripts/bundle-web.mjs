// Puts the pages of the platform into dist/platform/web: files whose names have a hash of their content,
// and index.html that names them.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { build } from 'esbuild'
import subsetFont from 'subset-font'

const root = join(import.meta.dirname, '..')
/** URL path under which the server serves the files of the pages. */
const ASSETS = '/assets/'

/** Characters used by the pages and by names in them; all others are drawn with a system font. */
const LETTERS = `${String.fromCharCode(...range(0x20, 0x7e), ...range(0xa0, 0xff))}ıŒœŠšŸŽžƒˆ˜–—‘’‚“”„†‡•…‹›€™←↑→↓−·×⌘↵`

/** Reduced fonts by path. A process that builds repeatedly, such as `npm run dev:web`, reduces each font only once. */
const small = new Map()

/**
 * Removes from a font the characters and weights that no page shows. Otherwise, half of the bytes of the first page
 * would be a font. The remaining weights are those of style/tokens.css.
 */
const smallFonts = {
  name: 'small fonts',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.woff2$/ }, async ({ path }) => {
      const contents = small.get(path) ?? (await smallFont(path))
      small.set(path, contents)
      return { loader: 'file', contents }
    }),
}

const smallFont = path =>
  subsetFont(readFileSync(path), LETTERS, {
    targetFormat: 'woff2',
    variationAxes: { wght: { min: 400, max: 600 } },
  })

function range(first, last) {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}

/**
 * Imports the application into each module that it loads later. esbuild makes one file of the modules that the same
 * entry points need, and these modules are entry points. Without the import, the first page would be in twenty files,
 * since each of its modules is also needed by other pages, and small files are compressed badly.
 */
const firstTogether = {
  name: 'first page together',
  setup: ({ onLoad, onResolve }) => {
    const later = new Set()
    onResolve({ filter: /\.tsx$/ }, ({ kind, path, resolveDir }) => {
      if (kind === 'dynamic-import') later.add(join(resolveDir, path))
    })
    onLoad({ filter: /\.tsx$/ }, ({ path }) => {
      if (!later.has(path)) return undefined
      const application = JSON.stringify(join(root, 'platform/web/app.tsx'))
      return {
        loader: 'tsx',
        contents: `import ${application};${readFileSync(path, 'utf8')}`,
        watchFiles: [path],
      }
    })
  },
}

const outdir = join(root, 'dist/platform/web')

/** Options of esbuild for the pages. */
export const webOptions = {
  absWorkingDir: root,
  logLevel: 'warning',
  entryPoints: { main: 'platform/web/main.tsx', theme: 'platform/web/theme.ts', icon: 'platform/web/icon.svg' },
  outdir: join(outdir, 'assets'),
  bundle: true,
  minify: true,
  splitting: true,
  format: 'esm',
  // light-dark() of the style sheet is newer than what the scripts need.
  target: ['chrome123', 'firefox120', 'safari17.5'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  entryNames: '[name]-[hash]',
  chunkNames: 'part-[hash]',
  assetNames: '[name]-[hash]',
  loader: { '.woff2': 'file', '.svg': 'copy' },
  legalComments: 'linked',
  plugins: [smallFonts, firstTogether],
  metafile: true,
}

/** Path of the document that loads the files of a build. */
export const webDocument = join(root, 'platform/web/index.html')

/**
 * Returns the text of `webDocument` with the names of the files of a build. Throws an Error if one of them is missing
 * or not unique.
 */
export function webIndex({ outputs }) {
  const written = Object.keys(outputs).map(one => basename(one))
  const one = pattern => {
    const found = written.filter(name => pattern.test(name))
    if (found.length !== 1) throw new Error(`the pages have ${found.length} files ${pattern}`)
    return ASSETS + found[0]
  }
  const names = {
    '%ICON%': one(/^icon-\w+\.svg$/),
    '%FONT%': one(/^inter-.*\.woff2$/),
    '%THEME%': one(/^theme-\w+\.js$/),
    '%STYLE%': one(/^main-\w+\.css$/),
    '%MAIN%': one(/^main-\w+\.js$/),
    '%APPLICATION%': ASSETS + basename(applicationOf(outputs)),
  }
  return readFileSync(webDocument, 'utf8').replaceAll(/%[A-Z]+%/g, key => names[key])
}

/** Returns the file that the main file imports: with it in the document, a browser loads both at once. */
function applicationOf(outputs) {
  const main = Object.values(outputs).find(({ entryPoint }) => entryPoint === 'platform/web/main.tsx')
  const imported = (main?.imports ?? []).filter(({ kind }) => kind === 'import-statement')
  if (imported.length !== 1) throw new Error(`the main file of the pages imports ${imported.length} files`)
  return imported[0].path
}

/** Replaces the pages of an earlier build with new ones, which need no other files. Returns the metafile of esbuild. */
export async function bundleWeb() {
  rmSync(outdir, { recursive: true, force: true })
  const { metafile } = await build(webOptions)
  mkdirSync(outdir, { recursive: true })
  writeFileSync(join(outdir, 'index.html'), webIndex(metafile))
  return metafile
}
