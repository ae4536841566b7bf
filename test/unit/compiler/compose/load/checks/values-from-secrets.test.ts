import { expect, test } from 'vitest'
import { compile } from '../../../../../../compiler/index.ts'
import type { SecretRules } from '../../../../../../compiler/options.ts'
import { memoryHost } from '../../../../../support/plan/compose.ts'
import { at, span } from '../../../../../support/plan/project.ts'

const secretRules: SecretRules = {
  backend: 'reference',
  storeKind: 'SecretStore',
  age: [],
  public: [],
  values: new Map([['services.web.environment.DB_PASSWORD', { secret: at('s'), key: at('k'), span }]]),
}

/** Compiles with a variable DB_PASSWORD on this machine, which no file uses. */
function compiled(files: Readonly<Record<string, string>>) {
  const environment = new Map([['DB_PASSWORD', 'unrelated']])
  const variable = (name: string) =>
    name === 'DB_PASSWORD' ? ({ value: 'unrelated', source: 'shell' } as const) : undefined
  const host = { ...memoryHost(files), environment, variable }
  return compile({ workingDirectory: '/project', secretRules, name: 'app', namespace: 'shop', plansErrors: true }, host)
}

const web = 'web: {image: x, environment: {DB_PASSWORD: "${WEB_PW:?}"}}'

test.each<[string, Readonly<Record<string, string>>]>([
  [
    'in a mapping',
    { 'compose.yaml': `services: {${web}, other: {image: x, environment: {DB_PASSWORD: "\${OTHER_PW:?}"}}}` },
  ],
  [
    'in a list',
    { 'compose.yaml': `services: {${web}, other: {image: x, environment: ["DB_PASSWORD=\${OTHER_PW:?}"]}}` },
  ],
  [
    'in a list of a job',
    {
      'compose.yaml': `services: {${web}}
jobs: {other: {image: x, triggers: {manual: true}, environment: ["DB_PASSWORD=\${OTHER_PW:?}"]}}`,
    },
  ],
  [
    'in a mapping that is merged with a list',
    {
      'compose.yaml': `services: {${web}, other: {image: x, environment: {DB_PASSWORD: "\${OTHER_PW:?}"}}}`,
      'compose.override.yaml': 'services: {other: {environment: [A=1]}}',
    },
  ],
  [
    'in a mapping of an extended service',
    {
      'compose.yaml': `services: {${web}, other: {extends: base, environment: {A: 1}},
  base: {image: x, environment: {DB_PASSWORD: "\${OTHER_PW:?}"}}}`,
    },
  ],
])('a required variable that is not set is not replaced by the variable of this machine: %s', (_, files) => {
  const { plan, diagnostics } = compiled(files)
  expect(diagnostics.filter(({ severity }) => severity === 'error').map(({ message }) => message)).toEqual([
    '`OTHER_PW` is required',
  ])
  expect(JSON.stringify(plan?.workloads.map(({ pod }) => pod))).not.toContain('unrelated')
})
