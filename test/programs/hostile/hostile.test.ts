import { test } from 'vitest'
import { expectAnswer, hostileInputs } from '../../support/hostile/inputs.ts'
import { few } from '../../support/takes-all.ts'

// `npm run test:long` has the others.
test.each(
  few(
    hostileInputs.filter(({ isShort }) => isShort),
    6,
  ),
)('hostile input ends in manifests or in diagnostics: $what', expectAnswer)
