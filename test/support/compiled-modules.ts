import { dirname, join, relative, resolve } from 'node:path'
import type { Plugin } from 'vitest/config'
import { COMPILED, COMPLETE, isFresh } from '../../scripts/fresh.mjs'

const root = join(import.meta.dirname, '../..')
const MODULES =
  /^(?:adapters|agent|api|builds|cli|commands|compiler|constructs|containers|develop|editor|environment|explain|gitops|init|operations|platform(?!\/web\/)|project|sync)\/.*\.ts$/

const compared = new Map<string, boolean>()
/** Compares a part of dist with its sources, once for all projects. */
const isPartFresh = (stamp: string): boolean => {
  const isNew = compared.get(stamp) ?? isFresh(stamp)
  compared.set(stamp, isNew)
  return isNew
}

/**
 * Returns a plugin with which tests import the compiled modules of dist. Node.js loads these faster than Vite compiles
 * the sources for each worker. Tests import the sources where dist is older than these, and where Vitest watches for
 * changes. With `usesBundle`, tests that run the command line in their own process run the bundle that users run, which
 * takes half the time and memory to load.
 */
export function compiledModules({ usesBundle = false } = {}): Plugin {
  let uses = false
  return {
    name: 'compiled-modules',
    enforce: 'pre',
    configureVitest({ vitest }) {
      uses = !vitest.config.watch && isPartFresh(usesBundle ? COMPLETE : COMPILED)
    },
    resolveId(source, importer) {
      if (!uses || importer === undefined || !source.startsWith('.')) return
      const path = relative(root, resolve(dirname(importer), source))
      if (usesBundle && path === 'cli/main.ts') return join(import.meta.dirname, 'bundled-main.ts')
      return MODULES.test(path) ? join(root, 'dist', path.replace(/ts$/, 'js')) : undefined
    },
  }
}

/** Matches the compiled modules, which Node.js loads without Vite. */
export const EXTERNAL =
  /\/dist\/(?:adapters|agent|api|builds|cli|commands|compiler|constructs|containers|develop|editor|environment|explain|gitops|init|operations|platform|project|sync)\//
