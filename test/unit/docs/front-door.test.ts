import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { root } from '../../support/cases.ts'

const read = (path: string) => readFileSync(join(root, path), 'utf8')

test('.nvmrc names the oldest line of Node.js that package.json supports', () => {
  const { engines } = JSON.parse(read('package.json'))
  const [, oldest] = /^>=(\d+)\.\d+$/.exec(engines.node) ?? []
  // A version manager installs the newest version of a line.
  expect(read('.nvmrc').trim()).toBe(oldest)
})

test('.editorconfig formats as Biome does', () => {
  const { formatter } = JSON.parse(read('biome.json'))
  const [all = ''] = read('.editorconfig').split('\n[golden/')
  const settings = Object.fromEntries([...all.matchAll(/^(\w+) = (.+)$/gm)].map(([, key, value]) => [key, value]))
  expect(settings).toMatchObject({
    indent_style: formatter.indentStyle,
    indent_size: String(formatter.indentWidth),
    max_line_length: String(formatter.lineWidth),
  })
})

describe('the workflow of GitHub', () => {
  const text = read('.github/workflows/ci.yml')
  const { permissions, concurrency, jobs } = parse(text)

  test('the workflow runs .ci/run with the version of Node.js of .nvmrc', () => {
    expect(jobs.run.steps).toContainEqual({ run: 'bash .ci/run' })
    expect(jobs.run.steps).toContainEqual({
      uses: expect.stringMatching(/^actions\/setup-node@v\d+$/),
      with: { 'node-version-file': '.nvmrc', cache: 'npm' },
    })
  })

  test('the workflow only reads the repository, gets no secret, and ends older runs of a branch', () => {
    expect(permissions).toEqual({ contents: 'read' })
    expect(Object.values(jobs).filter(job => Object.hasOwn(job as object, 'permissions'))).toEqual([])
    expect(text).not.toMatch(/secrets|pull_request_target/)
    expect(concurrency).toEqual({ group: expect.stringContaining('github.ref'), 'cancel-in-progress': true })
  })
})

describe('the forms of issues and pull requests', () => {
  const folder = '.github/ISSUE_TEMPLATE'

  test.each(readdirSync(join(root, folder)))(
    '%s asks for the Compose file, the command, the output and the version',
    name => {
      const { body } = parse(read(join(folder, name))) as { readonly body: readonly Field[] }
      const fields = body.filter(({ type }) => type !== 'markdown')
      const labels = fields.map(({ attributes }) => attributes.label)
      expect(labels).toEqual(expect.arrayContaining(['Compose file', 'Command', 'Output', 'devctl version']))
      const ids = fields.map(({ id }) => id)
      expect(new Set(ids).size).toBe(ids.length)
    },
  )

  test('the form of a pull request asks for the Compose file, the command, the output and the version', () => {
    const text = read('.github/pull_request_template.md')
    for (const part of ['Compose file', 'command', 'output', '`devctl version`']) expect(text).toContain(`- ${part}`)
  })
})

/** A field of an issue form. */
interface Field {
  readonly type: string
  readonly id?: string
  readonly attributes: { readonly label?: string }
}
