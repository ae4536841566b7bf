import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '..')
/** The folder for what a measurement writes. */
export const work = join(root, '.bench')
mkdirSync(work, { recursive: true })

/** The program as it was built. */
export const devctl = join(root, JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).bin.devctl)
if (!existsSync(devctl)) throw new Error(`${devctl} is not there: run \`npm run build\` first`)
