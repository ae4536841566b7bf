import { expect, test } from 'vitest'
import { kindOfFile } from '../../../../compiler/manifest/kind.ts'

test.each([
  ['manifest', 'x.yml', 'deploy:\n  - echo\n'],
  ['manifest', 'compose.yaml', 'name: shop\nenvironments: {}\n'],
  ['manifest', 'x.yml', 'enviroments:\n  staging: {}\n'],
  ['manifest', 'x.yml', '"build": {}\nx-y: 1\n'],
  ['manifest', 'x.json', '{"deploy": ["echo"]}'],
  ['manifest', 'devctl.yml', ''],
  ['manifest', 'a/.devctl/devctl.prod.yaml', 'name: shop\n'],
  ['compose', 'x.yml', 'services:\n  web: {deploy: {replicas: 2}}\n'],
  ['compose', 'devctl.yml', 'services: {}\nvolumes: {}\n'],
  ['compose', 'x.yml', 'servces:\n  web: {}\n'],
  ['compose', 'x.yml', 'include: [a.yaml]\n'],
  ['compose', 'x.json', '{"services": {"web": {"build": "."}}}'],
  // Only top-level keys count.
  [
    'compose',
    'x.json',
    '{"name": "x", "services": {"a": {"build": {"context": "."}}, "b": {"build": {}, "deploy": {}}}}',
  ],
  ['compose', 'x.yml', ''],
  ['compose', 'devctl-compose.yml', 'name: shop\n'],
  ['compose', 'x.yml', 'services:\n  web:\n    deploy:\n     - [broken\n'],
] as const)('kindOfFile returns %s for %s with the text %j', (kind, path, text) => {
  expect(kindOfFile(text, path)).toBe(kind)
})

test.each(['"\\"', "'a ", '"\\'])('kindOfFile reads a long file of quotes without an end in one pass: %s', part => {
  // A search that begins again at each quote takes minutes.
  expect(kindOfFile(`{${part.repeat(300_001)}`, 'x.yml')).toBe('compose')
})
