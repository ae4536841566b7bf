import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    // A snapshot that is not there fails; `-u` writes it.
    update: 'none',
    include: ['test/**/*.test.ts'],
    exclude: ['test/cluster/**', 'test/repositories/**', 'test/long/**'],
    testTimeout: 20_000,
    // Files of one worker share what they import: to load the compiler for each of them takes longer than most of them. So a file
    // may not mock modules, and puts back what it changes of the process.
    isolate: false,
    // Vitest leaves one processor free, which on two of them is half of the time.
    maxWorkers: '100%',
  },
})
