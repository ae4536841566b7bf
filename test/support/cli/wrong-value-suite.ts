import { describe, expect, test } from 'vitest'
import type { Diagnostic } from '../../../compiler/diagnostics/diagnostic.ts'
import type { CompilerHost } from '../../../compiler/host.ts'
import { compile } from '../../../compiler/index.ts'
import { everythingWrong, FILE, type Place, type Trial, trials } from './wrong-values.ts'

/** Declares the suite with one of `every` trials: `npm test` has an eighth of them, `npm run test:long` all. */
export function describeWrongValues(every: number): void {
  describe('values of the wrong kind', () => {
    const byKey = new Map<string, Trial[]>()
    for (const [index, trial] of [...trials()].entries()) {
      if (index % every !== 0) continue
      const key = trial.name.split(/[:[]/)[0]!.split('.').slice(0, 3).join('.')
      byKey.set(key, [...(byKey.get(key) ?? []), trial])
    }
    test.each([...byKey])('a wrong value of %s is one error inside the mistake', (_key, values) => {
      const wrong = values.flatMap(({ name, text, wrong, ...place }) => {
        const errors = errorsIn(text)
        const says = errors.map(({ code, message }) => `${code}: ${message}`).join('; ')
        if (HAS_OWN_CHECKS.test(name)) return []
        if (wrong && errors.length === 0 && name !== 'include: nothing') return [`${name} has no error`]
        if (isBelowRefused(name)) return []
        if (errors.length > 1) return [`${name} has ${errors.length} errors: ${says}`]
        return errors.every(error => isInside(error, place) || error.code.endsWith('/refused'))
          ? []
          : [`${name} is reported elsewhere: ${says}`]
      })
      expect(wrong).toEqual([])
    })

    test('hundreds of wrong values in one file are one error each', () => {
      const { text, places } = everythingWrong()
      expect(places.length).toBeGreaterThan(300)
      const errors = errorsIn(text)
      const unseen = places.filter(place => !errors.some(error => isInside(error, place)))
      expect(unseen.map(({ start, end }) => text.slice(start, end))).toEqual([])
      expect(errors.length).toBe(places.length)
    })
  })
}

/** Keys whose values are checked by other rules, with golden cases of their own. */
const HAS_OWN_CHECKS = /\bx-kubernetes\b|^jobs\.other\.(?:triggers|networks|x-autoscale)\b/

/**
 * `models` is refused as a whole; mistakes inside may be reported as well. Compose itself accepts an empty `include`.
 */
const isBelowRefused = (name: string) => /^services\.\w+\.models\b/.test(name)

const isInside = ({ span }: Diagnostic, { start, end }: Place) =>
  span !== undefined && span.start >= start && span.end <= end

function errorsIn(text: string): readonly Diagnostic[] {
  const files = new Map([
    ['/app/compose.yaml', text],
    [FILE, 'A=1\n'],
  ])
  const host: CompilerHost = {
    readFile: path => {
      const content = files.get(path)
      return content === undefined ? { kind: 'missing' } : { kind: 'file', bytes: new TextEncoder().encode(content) }
    },
    readDirectory: () => undefined,
    stat: path => (files.has(path) ? { kind: 'file', size: files.get(path)!.length } : undefined),
    realPath: path => path,
    variable: () => undefined,
    environment: new Map(),
    hashBuild: () => '0'.repeat(64),
    homeDirectory: '/home',
    checkout: () => undefined,
  }
  const options = { workingDirectory: '/app', files: ['compose.yaml'], namespace: 'shop', domain: 'example.com' }
  return compile(options, host).diagnostics.filter(({ severity }) => severity === 'error')
}
