import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { root } from '../../support/cases.ts'
import { run } from '../../support/run.ts'

const golden = join(root, 'golden/migrate')
const work = mkdtempSync(join(tmpdir(), 'devctl-migrate-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))

/** Files that another tool reads, by the name that `migrate` would not find itself. */
const NAMED = /\.(?:sh|md)$/

function copyOf(name: string): { readonly cwd: string; readonly args: readonly string[] } {
  const cwd = join(work, name)
  cpSync(join(golden, name, 'input'), cwd, { recursive: true })
  return { cwd, args: ['migrate', ...readdirSync(cwd).filter(one => NAMED.test(one))] }
}

const textsIn = (folder: string) =>
  new Map(
    readdirSync(folder, { withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(({ name }) => [name, readFileSync(join(folder, name), 'utf8')]),
  )

describe.each(readdirSync(golden))('%s', name => {
  test('migrate prints the expected files and notes, writes nothing by itself, and the result is valid', async () => {
    const { cwd, args } = copyOf(name)
    const before = textsIn(cwd)
    const expected = join(golden, name, 'expected')
    const printed = await run(args, { cwd })
    await expect(printed.stderr).toMatchFileSnapshot(join(expected, 'notes.txt'))
    expect(textsIn(cwd)).toEqual(before)
    if (name.endsWith('-is-refused'))
      return expect({ ...printed, stderr: '' }).toEqual({ status: 1, stdout: '', stderr: '' })
    expect(printed.status, printed.stderr).toBe(0)
    await expect(printed.stdout).toMatchFileSnapshot(join(expected, 'printed.txt'))

    const written = await run([...args, '--write'], { cwd })
    expect(written).toMatchObject({ status: 0, stdout: expect.stringContaining('written: ') })
    const after = textsIn(cwd)
    for (const [file, text] of after)
      if (before.get(file) !== text) await expect(text).toMatchFileSnapshot(join(expected, file))

    const again = await run([...args, '--write'], { cwd })
    expect(again).toMatchObject({ status: 0, stdout: expect.not.stringContaining('written: ') })
    expect(textsIn(cwd)).toEqual(after)
    const checked = await run(['validate'], { cwd })
    expect(checked).toMatchObject({ status: 0, stderr: expect.not.stringMatching(/^error/m) })
  })
})
