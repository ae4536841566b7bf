import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../../support/cases.ts'
import { makeFolder } from '../../support/cli/folder.ts'
import { run } from '../../support/run.ts'

const COMPOSE = 'services: {web: {image: "127.0.0.1:9/team/web:1", build: .}}\n'
const env = { BUILDKIT_HOST: 'tcp://127.0.0.1:9', CI: '1' }

async function objectsOf(files: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const { status, stdout, stderr } = await run(['build', '--progress', 'json', ...args], {
    cwd: makeFolder({ '.git/HEAD': 'ref: refs/heads/main\n', ...files }),
    env,
  })
  const objects = stderr
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as Record<string, unknown>)
  return { status, stdout, objects }
}

test('a missing builder is reported as an object, and so is the result', async () => {
  const { status, stdout, objects } = await objectsOf(
    { 'compose.yaml': COMPOSE, Dockerfile: 'FROM scratch\n' },
    '--push=false',
  )
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  expect(objects.slice(-2)).toEqual([
    {
      type: 'diagnostic',
      severity: 'error',
      message: expect.stringContaining('no connection to BuildKit'),
      related: [],
      notes: [expect.stringContaining('BUILDKIT_HOST'), expect.stringContaining('`web`')],
      hint: expect.any(String),
    },
    { type: 'result', outcome: 'failed' },
  ])
})

test('an error in a file is an object with its place', async () => {
  const { status, objects } = await objectsOf(
    { 'compose.yaml': 'services: {web: {build: {context: ., netwrk: a}}}\n', Dockerfile: 'FROM scratch\n' },
    '--registry',
    '127.0.0.1:9',
  )
  expect(status).toBe(1)
  expect(objects).toEqual([
    expect.objectContaining({ type: 'diagnostic', severity: 'error', file: 'compose.yaml', range: expect.anything() }),
    { type: 'result', outcome: 'failed' },
  ])
})

test('a mistake on the command line is an object, with the exit status 2', async () => {
  const { status, objects } = await objectsOf(
    { 'compose.yaml': COMPOSE, Dockerfile: 'FROM scratch\n' },
    '-f',
    'Dockerfile',
    '--tag',
    'UPPER CASE',
  )
  expect(status).toBe(2)
  expect(objects.map(({ type }) => type)).toEqual(['diagnostic', 'result'])
})

test('docs/build.md lists the objects at the end', () => {
  const docs = readFileSync(join(root, 'docs/build.md'), 'utf8')
  for (const type of ['diagnostic', 'result']) expect(docs).toContain(`| \`${type}\` |`)
})
