// Puts the command line and the packages it uses into a few files: Node reads them several times faster than hundreds of modules.
// What a command does not use stays in chunks that are not loaded. The programs' API (compiler, constructs) is not bundled.
import { build } from 'esbuild'

await build({
  entryPoints: { devctl: 'cli/main.ts' },
  outdir: 'dist/bin',
  bundle: true,
  splitting: true,
  platform: 'node',
  target: 'node20.19',
  format: 'esm',
  minify: true,
  keepNames: true,
  legalComments: 'linked',
  logLevel: 'warning',
  // Packages in the older module format ask for Node's own modules with `require`.
  banner: { js: "import { createRequire as createRequire$ } from 'node:module'; const require = createRequire$(import.meta.url);" },
})
