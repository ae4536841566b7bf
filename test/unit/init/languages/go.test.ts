import { expect, test } from 'vitest'
import { recogniseGo } from '../../../../init/languages/go.ts'
import { openProjectFiles } from '../../../../init/project-files.ts'
import { makeFolder } from '../../../support/cli/folder.ts'

test('each command of a Go project names the file with its main package', () => {
  const main = 'package main\n\nfunc main() {}\n'
  const listening = 'package main\n\nfunc main() { http.ListenAndServe(":8080", nil) }\n'
  const files = { 'go.mod': 'module x\n', 'main.go': main, 'cmd/api/main.go': listening, 'cmd/api/v2/run.go': main }
  expect(recogniseGo(openProjectFiles(makeFolder(files)))?.commands).toEqual([
    { value: 'go run ./cmd/api', from: '`package main` in cmd/api/main.go' },
    { value: 'go run .', from: '`package main` in main.go' },
    { value: 'go run ./cmd/api/v2', from: '`package main` in cmd/api/v2/run.go' },
  ])
})
