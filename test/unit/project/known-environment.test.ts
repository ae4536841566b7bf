import { expect, test } from 'vitest'
import type { OperationEvent } from '../../../api/events.ts'
import type { LoadingValues } from '../../../cli/options/project.ts'
import { renderDiagnostics } from '../../../compiler/diagnostics/render/text.ts'
import { compileFiles } from '../../../project/compile-files.ts'
import { findEnvironment, findName } from '../../../project/known-environment.ts'
import { openProject } from '../../../project/open-project.ts'
import { makeFolder } from '../../support/cli/folder.ts'

const GOOD = 'name: shop\nservices:\n  web:\n    image: nginx:1.27\n'
const BROKEN = 'services:\n  web: [\n'

const loading = { file: undefined, projectDirectory: undefined, envFile: undefined, profile: undefined }
const none = { ...loading, allowOutside: false, environment: undefined, context: undefined, namespace: undefined }

function world(compose: string | undefined) {
  let said = ''
  const output = {
    isTTY: false,
    write: (text: string) => {
      said += text
    },
  }
  const cwd = makeFolder(compose === undefined ? {} : { 'compose.yaml': compose })
  const io = { stdout: output, stderr: output, readStdin: async () => new Uint8Array(), env: {}, cwd }
  const on = (event: OperationEvent) => {
    if (event.type === 'diagnostics') said += renderDiagnostics(event.diagnostics)
  }
  return { context: { workspace: io, on }, io, said: () => said }
}

/** Returns the name of the environment that destroy uses. */
async function destroyed(compose: string, name?: string): Promise<string> {
  const { context, io } = world(compose)
  const options = { ...none, name }
  return findName(context, options, await openProject(io, options))
}

/** Returns the name that deploy gives the environment. */
async function deployed(compose: string, name: string): Promise<string | undefined> {
  const { plan } = await compileFiles(world(compose).io, [], none satisfies LoadingValues, { name })
  return plan?.environment.name
}

test.each(['shop', 'My Shop', 'feature/cart_2', `${'long-'.repeat(20)}name`])(
  'the environment `--name %s` is the same for destroy as for deploy',
  async name => {
    const label = await deployed(GOOD, name)
    expect(label).toMatch(/^[a-z0-9-]{1,63}$/)
    expect(await destroyed(GOOD, name)).toBe(label)
    const { context, io } = world(GOOD)
    const options = { ...none, name }
    expect((await findEnvironment(context, options, await openProject(io, options))).name).toBe(label)
  },
)

test('an environment without `--name` has the name in the files', async () => {
  expect(await destroyed(GOOD)).toBe('shop')
})

test('an environment with a name can be destroyed although the files are broken', async () => {
  expect(await destroyed(BROKEN, 'My Shop')).toBe('my-shop')
})

test('a name that cannot be derived is an error, reported after those of the files', async () => {
  const { context, io, said } = world(BROKEN)
  const options = { ...none, name: undefined }
  await expect(findName(context, options, await openProject(io, options))).rejects.toMatchObject({
    message: 'the name of the environment cannot be derived from the files',
    hint: 'set it with `--name`',
  })
  expect(said()).toContain('compose.yaml')
})

test('a project without files and without a name gets one error about both', async () => {
  const { context, io, said } = world(undefined)
  const options = { ...none, name: undefined }
  await expect(findName(context, options, await openProject(io, options))).rejects.toMatchObject({
    message: expect.stringContaining('no manifest or Compose file found'),
    hint: 'name a file with `-f`, or an environment in the cluster with `--name`',
  })
  expect(said()).toBe('')
})
