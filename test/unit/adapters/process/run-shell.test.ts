import { expect, test } from 'vitest'
import { runShell } from '../../../../adapters/process/run-shell.ts'
import { UserError } from '../../../../compiler/diagnostics/user-error.ts'
import { Masker } from '../../../../compiler/values/secrets/masker.ts'
import { makeFolder } from '../../../support/cli/folder.ts'

const run = (text: string, env: Readonly<Record<string, string | undefined>>) =>
  runShell(text, {
    folder: makeFolder(),
    env,
    noBash: true,
    masker: new Masker([]),
    colours: false,
    signal: undefined,
    grace: 100,
    drain: 100,
    line: () => {},
  })

const LONG = 'x'.repeat(1 << 20)

test.each<[string, string, object]>([
  ['a variable', 'true', { LONG }],
  ['a command', `true ${LONG}`, {}],
])('%s that is too long for the system is an error that the user understands', async (_, text, env) => {
  const failing = run(text, { PATH: process.env.PATH, ...env })
  await expect(failing).rejects.toBeInstanceOf(UserError)
  await expect(failing).rejects.toMatchObject({
    message: 'the command and its environment are too long for this system',
    hint: 'pass large values in files',
  })
})

test('a shell that is not on the PATH is an error with a hint', async () => {
  await expect(run('true', { PATH: '/does/not/exist' })).rejects.toMatchObject({ hint: 'install a shell' })
})
