// Sums up Vitest's JSON results: `node summary.mjs FAILED_STEPS FILE...`. Names the tests that failed, and those that passed at the second
// attempt only. The last line is "N passed, N failed"; the exit status is 1 when anything failed.
import { existsSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

const [steps, ...files] = process.argv.slice(2)
const suites = files.filter(existsSync).flatMap(file => JSON.parse(readFileSync(file, 'utf8')).testResults)
const tests = suites.flatMap(({ name, assertionResults }) =>
  assertionResults.map(test => ({ ...test, name: `${relative('.', name)} > ${test.fullName}` })),
)
const failed = tests.filter(({ status }) => status === 'failed')
const retried = tests.filter(({ status, failureMessages }) => status === 'passed' && failureMessages.length > 0)
// A file that cannot be loaded, or whose preparation fails, has no tests that could fail.
const broken = suites
  .filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some(test => test.status === 'failed'),
  )
  .map(({ name, message }) => ({ name: relative('.', name), failureMessages: [message] }))

const list = (title, all) => {
  if (all.length > 0) console.log(`\n${title}:`)
  for (const { name, failureMessages } of all)
    console.log(`  ${name}\n    ${firstLines(failureMessages[0] || 'see its output above')}`)
}
const firstLines = text => stripVTControlCharacters(text).split('\n').slice(0, 6).join('\n    ').slice(0, 800)

const seconds = ({ startTime, endTime }) => Math.round((endTime - startTime) / 1000)
const longest = suites.toSorted((a, b) => seconds(b) - seconds(a)).slice(0, 25)
console.log(
  `\nfiles that took longest:\n${longest.map(one => `  ${seconds(one)} s ${relative('.', one.name)}`).join('\n')}`,
)
list('passed at the second attempt', retried)
list('failed', [...failed, ...broken])
const leftOut = new Map()
const leftOutList = process.env.CI_LEFT_OUT
if (leftOutList !== undefined && existsSync(leftOutList))
  for (const file of readFileSync(leftOutList, 'utf8').trim().split('\n'))
    leftOut.set(file, (leftOut.get(file) ?? 0) + 1)
if (leftOut.size > 0) {
  console.log('\nleft out, as there was no time for them on this machine (CI_DEADLINE):')
  for (const [file, count] of leftOut) console.log(`  ${file}: ${count} ${count === 1 ? 'test' : 'tests'}`)
}
const failures = Number(steps) + failed.length + broken.length
console.log(`${tests.filter(({ status }) => status === 'passed').length} passed, ${failures} failed`)
process.exitCode = failures > 0 ? 1 : 0
