import { test } from 'vitest'
import { expectAnswer, hostileInputs } from '../../support/hostile/inputs.ts'

// `npm run test:long` has the others.
test.each(hostileInputs.filter(({ isShort }) => isShort))('hostile input: $what', { timeout: 30_000 }, expectAnswer)
