import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

/**
 * Prints the slowest test files, the skipped tests, and the failures. `files` are JSON results of Vitest; `failedSteps`
 * are the steps that failed without such results, with name and output. Returns the number of failures, and the closing
 * line "N passed, N failed".
 */
export function summarize(files, failedSteps) {
  const suites = files.flatMap(file => JSON.parse(readFileSync(file, 'utf8')).testResults)
  const tests = suites.flatMap(({ name, assertionResults }) =>
    assertionResults.map(test => ({ ...test, name: `${relative('.', name)} > ${test.fullName}` })),
  )
  const failed = tests.filter(({ status }) => status === 'failed')
  // A file that cannot be loaded, or whose preparation fails, has no tests that could fail.
  const broken = suites
    .filter(suite => suite.status === 'failed' && !suite.assertionResults.some(({ status }) => status === 'failed'))
    .map(({ name, message }) => ({ name: relative('.', name), failureMessages: [message] }))

  const longest = suites.toSorted((a, b) => duration(b) - duration(a)).slice(0, 25)
  console.log('\nfiles that took longest:')
  for (const suite of longest) console.log(`  ${Math.round(duration(suite) / 1000)} s ${relative('.', suite.name)}`)
  const skipped = tests.filter(({ status }) => status !== 'passed' && status !== 'failed')
  if (skipped.length > 0) {
    console.log('\nskipped:')
    for (const { name } of skipped) console.log(`  ${name}`)
  }
  const count = failedSteps.length + failed.length + broken.length
  if (count > 0) console.log('\nfailed:')
  for (const { name, output } of failedSteps) console.log(`  ${name}\n    ${indented(output)}`)
  for (const { name, failureMessages } of [...failed, ...broken])
    console.log(`  ${name}\n    ${firstLines(failureMessages[0] || 'see its output above')}`)
  return { count, line: `${tests.filter(({ status }) => status === 'passed').length} passed, ${count} failed` }
}

/** Returns true if a test or a test file in a file of results has failed. */
export const hasFailures = file =>
  JSON.parse(readFileSync(file, 'utf8')).testResults.some(({ status }) => status === 'failed')

const duration = ({ startTime, endTime }) => endTime - startTime
const firstLines = text => indented(text.split('\n').slice(0, 6).join('\n')).slice(0, 800)
const indented = text => stripVTControlCharacters(text).replaceAll('\n', '\n    ')
