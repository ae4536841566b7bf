import { execFileSync } from 'node:child_process'
import { existsSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeFolder, read } from '../../support/cli/folder.ts'
import { run } from '../../support/run.ts'

const compose = `services:
  web:
    image: nginx:1.27
    init: true
    cpuset: "0"
    mem_limit: 64m
`

test('render and validate end with the number of keys that are mapped, if not all are', async () => {
  const cwd = makeFolder({ 'compose.yaml': compose })
  const counts = '2 of 4 keys mapped, 1 approximated, 1 without effect\n'
  expect((await run(['render'], { cwd })).stderr).toMatch(new RegExp(`2 warnings; ${counts}$`))
  expect((await run(['validate'], { cwd })).stderr).toMatch(new RegExp(`2 warnings; ${counts}$`))
  expect((await run(['validate', '--loglevel', 'error'], { cwd })).stderr).toBe('')
  const complete = makeFolder({ 'compose.yaml': 'services: {web: {image: "nginx:1.27"}}\n' })
  expect((await run(['validate'], { cwd: complete })).stderr).not.toContain('keys')
})

test('`--report` writes a row for each key that is lost, as Markdown', async () => {
  const cwd = makeFolder({ 'compose.yaml': compose })
  expect(await run(['validate', '--report', 'losses.md'], { cwd })).toMatchObject({ status: 0 })
  expect(read(cwd)['losses.md']).toMatchInlineSnapshot(`
    "# Keys that are lost or approximated

    2 of 4 keys mapped, 1 approximated, 1 without effect

    | line | key | becomes | what is lost | what to do |
    |---|---|---|---|---|
    | \`compose.yaml:4\` | \`services.web.init\` | \`shareProcessNamespace: true\` | \`init\` becomes a shared process namespace: the pause process reaps zombies, and the program is not PID 1 | for both, start the program with an init process in the image (\`tini\`, \`dumb-init\`) |
    | \`compose.yaml:5\` | \`services.web.cpuset\` | nothing | \`cpuset\` has no equivalent in Kubernetes and is left out. A Pod cannot choose its processors. A node with the static CPU manager policy gives exclusive processors to containers whose \`cpus\` is a whole number, with equal requests and limits. | use \`cpus\` |
    "
  `)
})

test('`--report` writes the same as JSON', async () => {
  const cwd = makeFolder({ 'compose.yaml': compose })
  await run(['render', '--report', 'losses.json'], { cwd })
  expect(JSON.parse(read(cwd)['losses.json']!)).toMatchObject({
    mapped: 2,
    approximated: 1,
    none: 1,
    losses: [
      { key: 'services.web.init', file: 'compose.yaml', line: 4, fate: 'approximated' },
      { key: 'services.web.cpuset', line: 5, fate: 'none', becomes: '' },
    ],
  })
})

test('`--report` names the keys of jobs as the files have them', async () => {
  const jobs = 'jobs: {backup: {image: alpine, cpuset: "0", triggers: {schedule: ["@daily"]}}}\n'
  const cwd = makeFolder({ 'compose.yaml': jobs })
  await run(['render', '--report', 'losses.json'], { cwd })
  expect(JSON.parse(read(cwd)['losses.json']!)).toMatchObject({
    mapped: 2,
    losses: [{ key: 'jobs.backup.cpuset', line: 1, fate: 'none' }],
  })
})

test('`--report` masks a secret that Markdown would escape', async () => {
  const cwd = makeFolder({
    'compose.yaml': `${compose}    devices: ["/dev/\${DB_PASSWORD}:/dev/x"]\n`,
    '.env': "DB_PASSWORD='qu\"ote\\ba|r_x*y'\n",
  })
  for (const name of ['losses.md', 'losses.json']) {
    await run(['render', '--report', name], { cwd })
    const text = read(cwd)[name]!
    expect(text).toContain('***')
    expect(text).not.toMatch(/ote|r_x/)
  }
})

test('`--report` refuses another ending, and a folder that does not exist', async () => {
  const cwd = makeFolder({ 'compose.yaml': compose })
  expect(await run(['validate', '--report', 'losses.txt'], { cwd })).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('end the name with `.md` or `.json`'),
  })
  expect(await run(['validate', '--report', 'none/losses.md'], { cwd })).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('could not write `none/losses.md`'),
  })
})

test.skipIf(process.platform === 'win32')(
  '`--report` refuses a link and a pipe, and replaces a regular file',
  async () => {
    const cwd = makeFolder({ 'compose.yaml': compose, 'target.md': 'mine', 'old.md': 'old' })
    symlinkSync('target.md', join(cwd, 'link.md'))
    symlinkSync('nowhere.md', join(cwd, 'broken.md'))
    execFileSync('mkfifo', [join(cwd, 'pipe.md')])
    for (const [name, kind] of [
      ['link.md', 'a symbolic link'],
      ['broken.md', 'a symbolic link'],
      ['pipe.md', 'a pipe'],
    ])
      expect(await run(['validate', '--report', name!], { cwd })).toMatchObject({
        status: 1,
        stderr: expect.stringContaining(
          `error: \`${name}\` is ${kind}, and the report is not written to it\n  = help: name a`,
        ),
      })
    await run(['validate', '--report', 'old.md'], { cwd })
    expect(read(cwd)).toMatchObject({ 'target.md': 'mine', 'old.md': expect.stringContaining('# Keys that are lost') })
    expect(existsSync(join(cwd, 'nowhere.md'))).toBe(false)
  },
)

test('reports count a `logging` that a cluster satisfies anyway, and `--strict` accepts it', async () => {
  const logging = 'logging: {driver: json-file, options: {max-size: 10m}}'
  const cwd = makeFolder({ 'compose.yaml': `services:\n  web:\n    image: nginx:1.27\n    ${logging}\n` })
  const { status, stderr } = await run(['validate', '--strict', '--report', 'losses.json'], { cwd })
  expect({ status, stderr }).toEqual({
    status: 0,
    stderr: expect.stringContaining('1 of 2 keys mapped, 1 without effect'),
  })
  expect(JSON.parse(read(cwd)['losses.json']!).losses).toMatchObject([
    { key: 'services.web.logging', line: 4, fate: 'none', severity: 'info' },
  ])
})
