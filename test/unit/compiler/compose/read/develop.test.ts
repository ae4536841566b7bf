import { expect, test } from 'vitest'
import { plain, readWeb } from './read.ts'

test('rules of `develop.watch` are read with their positions', () => {
  const { web, found } = readWeb({
    image: 'nginx',
    develop: {
      watch: [
        {
          path: '/project/src',
          action: 'sync+exec',
          target: '/app/src',
          ignore: ['*.tmp'],
          include: ['**/*.ts'],
          initial_sync: true,
          exec: {
            command: ['npm', 'run', 'build'],
            user: 'node',
            privileged: true,
            working_dir: '/app',
            environment: { B: '2', A: '1', UNSET: null },
          },
        },
        { path: '/project/package.json', action: 'rebuild' },
      ],
    },
  })
  expect(found).toEqual([])
  const [sync, rebuild] = web.watch
  expect(web.watch).toHaveLength(2)
  expect(plain(sync!.path)).toBe('/project/src')
  expect(sync!.path.span.file.text.slice(sync!.path.span.start, sync!.path.span.end)).toBe('"/project/src"')
  expect(plain(sync!.action)).toBe('sync+exec')
  expect(plain(sync!.target)).toBe('/app/src')
  expect(sync!.ignore.map(plain)).toEqual(['*.tmp'])
  expect(sync!.include.map(plain)).toEqual(['**/*.ts'])
  expect(sync!.initialSync).toBe(true)
  const { command, user, privileged, workingDir, environment } = sync!.exec!
  expect([command.words, plain(user), privileged, plain(workingDir)]).toEqual([
    ['npm', 'run', 'build'],
    'node',
    true,
    '/app',
  ])
  expect(environment.map(({ name, value }) => `${name}=${value}`)).toEqual(['A=1', 'B=2'])
  expect(rebuild).toEqual(
    expect.objectContaining({ action: expect.objectContaining({ value: 'rebuild' }), ignore: [], include: [] }),
  )
  expect(rebuild!.target).toBeUndefined()
})

test.each([[null], [{}], [{ watch: [] }]])('`develop: %j` has no rules', develop => {
  expect(readWeb({ image: 'nginx', develop }).web.watch).toEqual([])
})

test('a rule with an empty path is left out', () => {
  expect(readWeb({ image: 'nginx', develop: { watch: [{ path: '', action: 'rebuild' }] } }).web.watch).toEqual([])
})
