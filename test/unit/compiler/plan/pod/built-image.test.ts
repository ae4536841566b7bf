import { expect, test } from 'vitest'
import { planOf } from '../../../../support/plan/compose.ts'

const codesOf = (Dockerfile: string) =>
  planOf('services: {web: {build: {context: ., target: prod, args: {TITLE: x}}}}', {}, { Dockerfile }).codes

test.each([
  ['FROM scratch', ['build/unknown-target', 'build/unknown-argument']],
  ['# syntax=docker/dockerfile:1\nFROM scratch', ['build/unknown-target', 'build/unknown-argument']],
  ['# syntax=ghcr.io/acme/frontend:1\napiVersion: v1', []],
  ['# check=skip=all\n# syntax=ghcr.io/acme/frontend:1\nFROM scratch', []],
])('the target and the arguments of %j are checked only against the frontend of Docker', (text, codes) => {
  expect(
    codesOf(text)
      .filter(code => code.startsWith('build/unknown'))
      .sort(),
  ).toEqual([...codes].sort())
})
