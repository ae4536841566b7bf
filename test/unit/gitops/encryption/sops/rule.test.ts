import { describe, expect, test } from 'vitest'
import { SECRET_VALUES, sopsRuleFor } from '../../../../../gitops/encryption/sops/rule.ts'

const PATH = 'environments/staging/shop/db/secret-shop-db.yaml'

/** Returns the rule for the file in a repository with these files. */
const rule = (files: Readonly<Record<string, string>>, path = PATH) => sopsRuleFor(path, file => files[file])
const inRoot = (text: string) => rule({ '.sops.yaml': text })

describe('sopsRuleFor', () => {
  test('no rule exists without a file of rules', async () => {
    expect(await rule({})).toBeUndefined()
  })

  test('the first matching rule counts', async () => {
    const text = `creation_rules:
  - path_regex: production/
    age: age1ddd
  - path_regex: ^environments/staging/.*\\.ya?ml$
    encrypted_regex: ^data$
    age: >-
      age1ppp,
      age1ttt, age1ppp
  - age: age1rrr
`
    expect(await inRoot(text)).toEqual({ age: ['age1ppp', 'age1ttt'], encryptedRegex: '^data$' })
    expect(await rule({ '.sops.yaml': text }, 'secret-x.yaml')).toEqual({
      age: ['age1rrr'],
      encryptedRegex: SECRET_VALUES,
    })
  })

  test('the nearest file counts, and its patterns are for paths from there', async () => {
    const files = {
      '.sops.yaml': 'creation_rules: [{age: age1qqq}]',
      'environments/staging/.sops.yaml': 'creation_rules: [{path_regex: "^shop/", age: [age1sss, age1mmm]}]',
    }
    expect((await rule(files))?.age).toEqual(['age1sss', 'age1mmm'])
    expect((await rule(files, 'environments/production/shop/secret-x.yaml'))?.age).toEqual(['age1qqq'])
  })

  test('flags of Go at the beginning of a pattern are read', async () => {
    expect((await inRoot('creation_rules: [{path_regex: "(?i)SECRET-", age: age1ppp}]'))?.age).toEqual(['age1ppp'])
  })

  test.each([
    [
      'creation_rules: [{path_regex: shop, age: age1ppp, pgp: ABC, kms: arn}]',
      ['pgp', 'kms'],
      { encrypted_regex: SECRET_VALUES },
    ],
    ['creation_rules: [{key_groups: [{age: [age1ppp]}], shamir_threshold: 1}]', ['key_groups', 'shamir_threshold'], {}],
    ['creation_rules: [{age: "ssh-ed25519 AAAA"}]', ['age'], { encrypted_regex: SECRET_VALUES }],
    ['creation_rules: [{age: age1yubikey1qqq, encrypted_regex: ^data$}]', ['age'], { encrypted_regex: '^data$' }],
    ['creation_rules: [{age: age1ppp, encrypted_suffix: data}]', ['encrypted_suffix'], { encrypted_suffix: 'data' }],
  ])('%s needs the program sops', async (text, fields, rule) => {
    const found = await inRoot(text)
    expect(found?.program).toMatchObject({ fields, rule })
    expect(found?.program?.rule).not.toHaveProperty('path_regex')
    expect('encrypted_regex' in (found?.program?.rule ?? {})).toBe(!text.includes('suffix'))
  })

  test.each([
    ['creation_rules: [{path_regex: other/, age: age1ppp}]', `has no rule for \`${PATH}\``],
    ['{}', 'has no rule for'],
    ['creation_rules: [', 'is not valid YAML'],
    ['creation_rules: [{age: ""}]', 'names no recipient for'],
    // A later rule would match, and encrypt for other readers.
    [
      'creation_rules: [{path_regex: "^environments/[[:alpha:]]+/", age: age1ppp}, {age: age1qqq}]',
      'has a `path_regex` that devctl cannot read: `^environments/[[:alpha:]]+/`',
    ],
    ['creation_rules: [{path_regex: "(", age: age1ppp}]', 'has a `path_regex` that devctl cannot read: `(`'],
  ])('%s is refused', async (text, why) => {
    await expect(inRoot(text)).rejects.toThrow(why)
  })
})
