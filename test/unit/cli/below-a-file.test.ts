import { expect, test } from 'vitest'
import { makeFolder } from '../../support/cli/folder.ts'
import { run } from '../../support/run.ts'

const plain = 'services: {web: {image: nginx}}\n'
const built = (build: string, more = '') => `services: {web: {image: r.example.com/web, build: ${build}}}\n${more}`

// Linux reports a path below a file in another way than a missing file.
test.each([
  ['render --project-directory compose.yaml/x', 'an option', plain, 'the folder `compose.yaml/x` does not exist'],
  [
    'publish --repository compose.yaml/x --path staging --namespace shop',
    'a repository',
    plain,
    'folder `compose.yaml/x` does not exist',
  ],
  ['diff --against file/x', 'manifests', plain, 'cannot read `file/x`: there is no such file'],
  [
    'build --secret id=x,src=compose.yaml/x',
    'a secret in an option',
    built('.'),
    'from `compose.yaml/x`, which is not a file',
  ],
  ['build -f file compose.yaml/x', 'a context in an argument', plain, 'the context `compose.yaml/x` is not a folder'],
  ['build', 'a context', built('compose.yaml/x'), '`compose.yaml/x`'],
  ['build', 'an additional context', built('{context: ., additional_contexts: {a: file/x}}'), '`file/x`'],
  ['build', 'a secret', built('{context: ., secrets: [s]}', 'secrets: {s: {file: file/x}}\n'), 'file/x'],
])('`devctl %s` reports a path below a file, of %s, as one that does not exist', async (line, _, compose, message) => {
  const cwd = makeFolder({ 'compose.yaml': compose, file: 'FROM nginx\n', Dockerfile: 'FROM nginx\n' })
  const { status, stderr } = await run(line.split(' '), { cwd, env: { PATH: process.env.PATH!, DEVCTL_HOME: cwd } })
  expect(status, stderr).toBeGreaterThan(0)
  expect(stderr).toContain(message)
  expect(stderr).not.toMatch(/bug of devctl/)
})
