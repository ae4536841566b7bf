import { expect, test } from 'vitest'
import { usesDockerFrontend } from '../../../../../compiler/values/dockerfile/dockerfile-frontend.ts'

test.each([
  ['FROM a', true],
  ['# syntax=docker/dockerfile:1', true],
  ['# Syntax = docker.io/docker/dockerfile-upstream:master', true],
  ['# a comment\n# syntax=example.com/other', true],
  ['# syntax=example.com/other', false],
  ['\ufeff#syntax=example.com/other', false],
  ['# check=skip=all\r\n # escape=`\n# syntax=example.com/other', false],
])('the frontend of %j is recognised: %s', (text, expected) => {
  expect(usesDockerFrontend(text)).toBe(expected)
})
