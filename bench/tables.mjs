import { median } from './measure.mjs'

/**
 * Prints what was measured: rows of a name and their results, each with the milliseconds and, where they are known, the
 * MiB of a run.
 */
export function printResults(rows) {
  console.log('| what | ms | peak MiB |\n|---|---:|---:|')
  for (const { name, results } of rows) {
    const peaks = results.map(one => one.peak)
    const peak = peaks.includes(undefined) ? '' : Math.round(median(peaks))
    console.log(`| ${name} | ${Math.round(median(results.map(one => one.milliseconds)))} | ${peak} |`)
  }
}

/** Prints goals, each a name, what was measured, its limit, and their unit. */
export function printGoals(goals) {
  console.log('\n| goal | measured | limit | |\n|---|---:|---:|---|')
  for (const [goal, measured, limit, unit] of goals) {
    const digits = limit < 10 ? 2 : 0
    const [is, may] = [measured, limit].map(number => `${number.toFixed(digits)} ${unit}`.trimEnd())
    console.log(`| ${goal} | ${is} | ${may} | ${measured <= limit ? 'reached' : '**missed**'} |`)
  }
}
