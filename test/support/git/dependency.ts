import { renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeFolder } from '../cli/folder.ts'
import { bareRepository } from './repository.ts'

/** Returns the files of a project that depends on the repository `shop.api` with these files. */
export async function withDependency(
  files: Readonly<Record<string, string>>,
  options: object = {},
): Promise<Readonly<Record<string, string>>> {
  const { repository } = await bareRepository(makeFolder(), { files })
  const named = join(dirname(repository), 'shop.api')
  renameSync(repository, named)
  const dependencies = { 'shop.api': { repository: `file://${named}`, ...options } }
  return {
    'devctl.yml': JSON.stringify({ name: 'front', dependencies, deploy: { compose: 'compose.yaml' } }),
    'compose.yaml': 'services: {web: {image: nginx}}\n',
  }
}
