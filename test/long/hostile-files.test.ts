import { test } from 'vitest'
import { expectAnswer, hostileInputs } from '../support/hostile/inputs.ts'

test.each(hostileInputs)('hostile input: $what', { timeout: 30_000 }, expectAnswer)
