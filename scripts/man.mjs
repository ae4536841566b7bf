// Writes the manual pages to dist/man, from the declarations of the commands in dist/cli. npm installs them, because
// package.json lists them under `man`.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commands } from '../dist/cli/commands.js'
import { manPages } from '../dist/cli/help/man-pages.js'
import { version } from '../dist/project/version.js'

const folder = join(import.meta.dirname, '../dist/man')
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
for (const [name, text] of manPages(commands, version())) writeFileSync(join(folder, name), text)
