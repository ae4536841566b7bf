import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { toSvg } from '../../../cli/terminal/graph/svg.ts'
import { root } from '../../support/cases.ts'
import { makeFolder } from '../../support/cli/folder.ts'
import { run } from '../../support/run.ts'
import { expectFile } from '../../support/written-file.ts'

// The default name is that of the repository, which a clone may rename.
const graph = (example: string, ...argv: string[]) =>
  run(['graph', '--name', example, '--domain', 'dev.example.com', ...argv], { cwd: join(root, 'examples', example) })

describe('graph', () => {
  test.each([
    ['shop', 'mermaid'],
    ['shop', 'dot'],
    ['shop', 'svg'],
    ['jobs', 'mermaid'],
    ['jobs', 'dot'],
    ['voting', 'mermaid'],
    ['voting', 'svg'],
  ])('draws %s as %s', async (example, form) => {
    const { status, stdout, stderr } = await graph(example, '-o', form)
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    await expectFile(stdout, join(root, 'golden/cli/graph', `${example}.${form === 'mermaid' ? 'mmd' : form}`))
  })

  test('an image has a title and a description of all connections', async () => {
    const { stdout } = await graph('shop', '-o', 'svg')
    expect(stdout).toContain('role="img" aria-labelledby="title desc"')
    expect(stdout).toContain('service web depends on service api (healthy). ')
  })

  test.each(['mermaid', 'dot', 'svg'])('control characters of labels are not printed raw, as %s', async form => {
    const cwd = makeFolder({
      'compose.yaml':
        'services:\n  a:\n    image: a\n    volumes: [{type: volume, source: v, target: "/a\\e[31mb\\nc"}]\nvolumes: {v: }\n',
    })
    const { stdout } = await run(['graph', '-o', form], { cwd })
    expect(stdout).toMatch(/\/a\\+u\{1b\}\[31mb\\+nc/)
    expect(stdout).not.toContain('\u001b')
  })

  test.each([
    ['a long chain', 4000, true],
    ['a large application', 12_000, false],
  ])('%s is refused as an image', async (_, count, isChain) => {
    const nodes = Array.from({ length: count }, (_, at) => ({ id: `s${at}`, kind: 'service', name: `s${at}` }) as const)
    const edges = nodes
      .slice(isChain ? 1 : count)
      .map(({ id }, at) => ({ from: id, to: `s${at}`, kind: 'depends-on' }) as const)
    await expect(toSvg({ name: 'shop', nodes, edges })).rejects.toThrow(
      `the graph is too large to be drawn: it has ${count} nodes and ${edges.length} edges`,
    )
  })

  test('names with characters of the formats are escaped', async () => {
    const cwd = makeFolder({
      'compose.yaml':
        'services:\n  a:\n    image: a\n    volumes: [{type: volume, source: v, target: "/<a&\\"b|"}]\nvolumes: {v: }\n',
    })
    expect((await run(['graph'], { cwd })).stdout).toContain('|"/<a&amp;&quot;b|"|')
    expect((await run(['graph', '-o', 'dot'], { cwd })).stdout).toContain('label="/<a&\\"b|"')
    expect((await run(['graph', '-o', 'svg'], { cwd })).stdout).toContain('/&lt;a&amp;&quot;b|</text>')
  })

  test('secrets and configs that become variables are drawn once, and restarts are marked', async () => {
    const cwd = makeFolder({
      'compose.yaml': `services:
  a:
    image: a
    secrets: [key]
    x-secret-environment: {KEY: key, TOKEN: token}
    x-config-environment: {LEVEL: level}
    depends_on: {b: {condition: service_started, restart: true}}
  b: {image: b}
secrets: {key: {external: true}, token: {external: true}}
configs: {level: {content: info}}
`,
    })
    const { stdout } = await run(['graph', '-o', 'dot'], { cwd })
    for (const name of ['key', 'token', 'level'])
      expect(stdout.match(new RegExp(`label="${name}\\b`, 'g'))).toHaveLength(1)
    expect(stdout.match(/ -> /g)).toHaveLength(4)
    expect(stdout).toContain('started, restart')
  })

  test('errors in the files are reported, and nothing is drawn', async () => {
    const cwd = makeFolder({ 'compose.yaml': 'services: {a: {imagee: x}}\n' })
    expect(await run(['graph'], { cwd })).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining('nothing was drawn'),
    })
  })
})
