import { expect, test } from 'vitest'
import type { BuildFailure } from '../../../adapters/buildkit/failure.ts'
import { dockerfilePlace } from '../../../builds/dockerfile-place.ts'

/** Returns the line of a Dockerfile on which a step is that failed on an old builder. */
const lineOf = (step: string, ...lines: readonly string[]) =>
  dockerfilePlace({ message: '', stepName: `[2/2] ${step}` } as BuildFailure, {
    context: { folder: '/app' },
    dockerfile: { text: ['FROM nginx', ...lines].join('\n') },
  })?.start

test.each([
  ['RUN cp /a/b.txt /c', 'RUN cp $FROM /c', 2],
  ['RUN cp /a/b.txt /c', 'RUN cp ${FROM:-x} ${TO}', 2],
  ['run CP a a', 'RUN cp $A', 2],
  ['RUN ab', 'RUN a${EMPTY}b', 2],
  ['RUN cp /a/b.txt /c', 'RUN mv $FROM /c', undefined],
  ['RUN aba', 'RUN ab${A}ba', undefined],
  ['RUN a b', 'RUN ${A}b${B}c', undefined],
])('the step %s is found as %s on line %s', (step, instruction, line) => {
  expect(lineOf(step, instruction)).toBe(line)
})

test('a step is found beside an instruction with many variables', () => {
  const variables = Array.from({ length: 30 }, (_, number) => `$A${number}`)
  const step = `RUN apt-get install -y ${'name '.repeat(60)}`
  expect(lineOf(step, `RUN apt-get install -y ${variables.join(' ')} && rm -rf /var/cache`, step)).toBe(3)
})
