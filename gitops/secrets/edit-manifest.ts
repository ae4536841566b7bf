import { editYaml, type YamlEdit } from '../../adapters/files/yaml-edit.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'

/**
 * Answers about the values of an environment: the Secret and the key of each secret value, by the path of the value,
 * and the paths of the public values.
 */
export interface SecretAnswers {
  readonly values: ReadonlyMap<string, { readonly secret: string; readonly key: string }>
  readonly public: readonly string[]
}

/**
 * Returns the text of a manifest with the given answers added to the environment. Throws a UserError if the manifest
 * cannot be edited, because the environment is an alias or the text is not YAML.
 */
export async function withSecretAnswers(text: string, environment: string, answers: SecretAnswers): Promise<string> {
  const secrets = ['environments', environment, 'secrets']
  const edits: readonly YamlEdit[] = [
    ...[...answers.values].map(([path, value]) => ({ path: [...secrets, 'values', path], value })),
    ...answers.public.map(item => ({ path: [...secrets, 'public'], item })),
  ]
  let edited = text
  for (const edit of edits) {
    const result = await editYaml(edited, edit)
    if (!result.ok)
      throw new UserError(`the manifest cannot be edited: ${result.problem}`, {
        hint: 'write the answers by hand, under `secrets` of the environment',
      })
    edited = result.text
  }
  return edited
}
