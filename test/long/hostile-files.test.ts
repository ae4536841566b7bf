import { test } from 'vitest'
import { expectAnswer, hostileInputs } from '../support/hostile/inputs.ts'

test.each(hostileInputs)('hostile input: $what', expectAnswer)
