import { expect, test } from 'vitest'
import { loadProject } from '../../../../../compiler/compose/load/load.ts'
import { Reporter } from '../../../../../compiler/diagnostics/reporter.ts'
import { get, isMap } from '../../../../../compiler/text/tree.ts'
import { scalarText } from '../../../../../compiler/text/tree-text.ts'
import { memoryHost } from '../../../../support/plan/compose.ts'

const load = (files: Readonly<Record<string, string>>) =>
  loadProject({ workingDirectory: '/project' }, memoryHost(files), new Reporter())!

/** The environment of a service of a project with the given files. */
function environmentOf(files: Readonly<Record<string, string>>, service: string) {
  const environment = get(load(files).tree, 'services', service, 'environment')
  const entries = isMap(environment) ? [...environment.entries] : []
  return Object.fromEntries(
    entries.map(([name, { value }]) => [
      name,
      value.kind === 'scalar' && value.type !== 'null' ? scalarText(value) : null,
    ]),
  )
}

const projects = (a: string, b: string, rest: Readonly<Record<string, string>> = {}) => ({
  'compose.yaml': 'include: [a/c.yaml, b/c.yaml]',
  'a/c.yaml': a,
  'b/c.yaml': b,
  'a/.env': 'W=fromA',
  'b/.env': 'W=fromB',
  ...rest,
})

test.each<[string, Readonly<Record<string, string>>, string, Readonly<Record<string, string | null>>]>([
  [
    'an env file that the second of two included projects names',
    projects('services: {s: {image: x}}', 'services: {s: {image: x, env_file: e.env}}', { 'b/e.env': 'X=$W' }),
    's',
    { X: 'fromB' },
  ],
  [
    'a variable that each of two included projects passes to its own service',
    projects('services: {s: {image: x, environment: [W]}}', 'services: {t: {image: x, environment: {W: }}}'),
    't',
    { W: 'fromB' },
  ],
  [
    'a variable of a file that services of two included projects extend',
    projects(
      'services: {s: {extends: {file: ../base.yaml, service: base}}}',
      'services: {t: {extends: {file: ../base.yaml, service: base}}}',
      { 'base.yaml': 'services: {base: {image: x, environment: [W]}}' },
    ),
    't',
    { W: 'fromB' },
  ],
  [
    'lines of the root project for a service of an included project',
    {
      'compose.yaml': 'include: [a/c.yaml]\nservices: {s: {image: x, environment: [W, V], env_file: web.env}}',
      'web.env': 'X=${W-none}',
      '.env': 'V=root',
      'a/c.yaml': 'services: {s: {image: x, environment: [U]}}',
      'a/.env': 'U=fromA\nW=fromA',
    },
    's',
    { U: 'fromA', V: 'root', W: null, X: 'none' },
  ],
  [
    'a project that an included project includes',
    {
      'compose.yaml': 'include: [a/c.yaml]',
      'a/c.yaml': 'include: [b/c.yaml]',
      'a/b/c.yaml': 'services: {s: {image: x, environment: [W], env_file: [e.env]}}',
      'a/b/e.env': 'X=$W',
      'a/.env': 'W=fromA',
      'a/b/.env': 'W=fromB',
    },
    's',
    { W: 'fromA', X: 'fromA' },
  ],
])('the variables for %s come from the project of the file', (_, files, service, environment) => {
  expect(environmentOf(files, service)).toEqual(environment)
})

test('secrets and configs of an included project come from the variables of that project', () => {
  const own = 'secrets: {NAME: {environment: W}}\nconfigs: {NAME: {environment: W}}\nservices: {NAME: {image: x}}'
  const files = projects(own.replaceAll('NAME', 'a'), own.replaceAll('NAME', 'b'))
  expect(load(files).environmentContents).toEqual(
    new Map([
      ['configs.a', 'fromA'],
      ['configs.b', 'fromB'],
      ['secrets.a', 'fromA'],
      ['secrets.b', 'fromB'],
    ]),
  )
})
