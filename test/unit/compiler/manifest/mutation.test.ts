import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readManifest } from '../../../../compiler/manifest/read.ts'
import { createHost } from '../../../../project/node-host.ts'
import { type ManifestCase, manifestCases } from '../../../support/manifest/cases.ts'
import { partOf } from '../../../support/part-of-cases.ts'

// Reading any manifest gives a manifest, or diagnostics with a span. `npm run test:long` tries all.

const VALUES = ['', '[]', '{}', '5', '-1', 'true', 'null', '"$"', '${', '":"', '[[a]]', '{a: {b: c}}', '"\\0"', '1e999']

const MISSING = new Set(['manifest/missing-key', 'manifest/forward-target', 'manifest/duplicate'])

/** Variants of the text: without each line, and with each value replaced. */
function* mutations(text: string): Generator<string> {
  const lines = text.split('\n')
  for (const [at, line] of lines.entries()) {
    const without = [...lines.slice(0, at), ...lines.slice(at + 1)]
    yield without.join('\n')
    const [, head] = /^(\s*(?:- )?[^:]*:)/.exec(line) ?? /^(\s*-)/.exec(line) ?? []
    if (head === undefined) continue
    for (const value of VALUES) yield [...lines.slice(0, at), `${head} ${value}`, ...lines.slice(at + 1)].join('\n')
  }
}

function read(text: string, { environment, file }: ManifestCase) {
  const host = createHost({ env: {} })
  const bytes = new TextEncoder().encode(text)
  // Manifests of Okteto are known by their names.
  return readManifest(
    { path: `/nowhere/${file}`, workingDirectory: '/nowhere', ...(environment && { environment }) },
    { ...host, stat: () => undefined, readFile: () => ({ kind: 'file', bytes }) },
  )
}

const { cases, title } = partOf(manifestCases(), 6)

test.each(cases.map(one => [one.name, one] as const))(`%s with changes is read or refused (${title})`, (_name, one) => {
  for (const text of mutations(readFileSync(join(one.directory, one.file), 'utf8'))) {
    const { manifest, diagnostics } = read(text, one)
    expect(manifest !== undefined || diagnostics.length > 0, text).toBe(true)
    for (const { span, message } of diagnostics) expect(span, `${message}\n${text}`).toBeDefined()
    // One error, one message. Only absent or duplicate values may have several at one span.
    const errors = diagnostics.filter(({ code, severity }) => severity === 'error' && !MISSING.has(code))
    const places = errors.map(({ span }) => `${span?.start}-${span?.end}`)
    expect(places.length - new Set(places).size, `${text}\n${errors.map(({ message }) => message).join('\n')}`).toBe(0)
  }
})
