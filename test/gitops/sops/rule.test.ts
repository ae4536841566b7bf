import { describe, expect, test } from 'vitest'
import { SECRET_VALUES, sopsRuleFor } from '../../../gitops/sops/rule.ts'

const PATH = 'environments/staging/shop/db/secret-shop-db.yaml'

/** The rule for the file in a repository with these files. */
const rule = (files: Readonly<Record<string, string>>, path = PATH) => sopsRuleFor(path, file => files[file])
const inRoot = (text: string) => rule({ '.sops.yaml': text })

describe('the rules of a repository', () => {
  test('none where there is no file', async () => {
    expect(await rule({})).toBeUndefined()
  })

  test('the first that fits counts', async () => {
    const text = `creation_rules:
  - path_regex: production/
    age: age1production
  - path_regex: ^environments/staging/.*\\.ya?ml$
    encrypted_regex: ^data$
    age: >-
      age1one,
      age1two, age1one
  - age: age1others
`
    expect(await inRoot(text)).toEqual({ age: ['age1one', 'age1two'], encryptedRegex: '^data$' })
    expect(await rule({ '.sops.yaml': text }, 'secret-x.yaml')).toEqual({
      age: ['age1others'],
      encryptedRegex: SECRET_VALUES,
    })
  })

  test('the nearest file counts, and its patterns are for paths from there', async () => {
    const files = {
      '.sops.yaml': 'creation_rules: [{age: age1root}]',
      'environments/staging/.sops.yaml': 'creation_rules: [{path_regex: "^shop/", age: [age1staging, age1more]}]',
    }
    expect((await rule(files))?.age).toEqual(['age1staging', 'age1more'])
    expect((await rule(files, 'environments/production/shop/secret-x.yaml'))?.age).toEqual(['age1root'])
  })

  test('flags of Go at the beginning of a pattern are read', async () => {
    expect((await inRoot('creation_rules: [{path_regex: "(?i)SECRET-", age: age1one}]'))?.age).toEqual(['age1one'])
  })

  test.each([
    ['creation_rules: [{path_regex: other/, age: age1one}]', `has no rule for \`${PATH}\``],
    ['{}', 'has no rule for'],
    ['creation_rules: [', 'is not valid YAML'],
    ['creation_rules: [{age: ""}]', 'names no recipient for'],
    ['creation_rules: [{path_regex: "(", age: age1one}]', 'has a `path_regex` that devctl cannot read: `(`'],
    ['creation_rules: [{age: age1one, pgp: ABC, kms: arn}]', 'asks for `pgp`, `kms` for'],
    [
      'creation_rules: [{key_groups: [{age: [age1one]}], shamir_threshold: 1}]',
      'asks for `key_groups`, `shamir_threshold`',
    ],
    ['creation_rules: [{age: age1one, unencrypted_suffix: _plain}]', 'asks for `unencrypted_suffix`'],
  ])('%s', async (text, why) => {
    await expect(inRoot(text)).rejects.toThrow(why)
  })
})
