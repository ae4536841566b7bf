import { editYaml } from '../../adapters/files/yaml-edit.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { look } from '../repository/tree/change.ts'

/** File names under which kustomize finds the kustomization of a folder. */
const NAMES = ['kustomization.yaml', 'kustomization.yml', 'Kustomization']

/** A file of a repository with its new text. */
export interface EditedFile {
  /** Path from the root of the repository, with `/`. */
  readonly path: string
  readonly text: string
}

/**
 * Returns the kustomization of a folder with `file` added to its resources, because controllers that find a
 * kustomization apply only the resources that it lists. Undefined if the folder has no kustomization, or the
 * kustomization already lists the file. Throws a UserError if the kustomization cannot be edited.
 */
export async function listResource(root: string, folder: string, file: string): Promise<EditedFile | undefined> {
  for (const name of NAMES) {
    const path = folder === '.' ? name : `${folder}/${name}`
    const found = look(root, path)
    if (found.kind !== 'file') continue
    const text = await withResource(found.content, file, path)
    return text === found.content ? undefined : { path, text }
  }
}

async function withResource(text: string, file: string, path: string): Promise<string> {
  const add = (item: string) => editYaml(text, { path: ['resources'], item })
  const dotted = await add(`./${file}`)
  if (dotted.ok && dotted.text === text) return text
  const edited = await add(file)
  if (edited.ok) return edited.text
  throw new UserError(`\`${path}\` of the repository cannot list \`${file}\`: ${edited.problem}`, {
    hint: 'correct it there, or choose another folder with `--into`',
  })
}
