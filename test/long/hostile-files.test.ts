import { test } from 'vitest'
import { expectAnswer, hostileInputs } from '../support/hostile/inputs.ts'

test.each(hostileInputs)('the compiler handles hostile input: $what', expectAnswer)
