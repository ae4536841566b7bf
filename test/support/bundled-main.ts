import { createRequire } from 'node:module'
import type { main as Main } from '../../cli/start.ts'

const { load } = createRequire(import.meta.url)('../../bin/devctl.cjs')

/** The command line of the bundle, in place of that of `cli/main.ts`. */
export const { main } = load('devctl.cjs') as { readonly main: typeof Main } // entry point of scripts/bundle.mjs
