import { expect, test } from 'vitest'
import { neededKeys } from '../../../../gitops/secrets/needed-secrets.ts'
import { openProject } from '../../../../project/open-project.ts'
import { makeFolder } from '../../../support/cli/folder.ts'

const COMPOSE = `name: shop
services:
  db:
    image: mysql:\${TAG:?}
    environment:
      ADMIN_PASSWORD: \${ADMIN_PASSWORD:?}
      APP_PASSWORD: \${APP_PASSWORD:?}
      URL: mysql://app:\${ADMIN_PASSWORD:?}@\${HOST:?}/shop
    ports: ["\${PORT:?}"]
    secrets: [token]
secrets:
  token: {environment: TOKEN_OF_CI}
`

const MANIFEST = `environments:
  staging:
    namespace: shop
    secrets:
      values:
        services.db.environment.ADMIN_PASSWORD: {secret: db, key: admin}
        services.db.environment.APP_PASSWORD: {secret: db, key: app}
        services.db.environment.URL: {secret: db, key: url}
        secrets.token: {secret: db, key: token}
`

test.each([
  [{ ADMIN_PASSWORD: 'hunter2' }, { admin: 'hunter2' }],
  [
    { ADMIN_PASSWORD: 'hunter2', HOST: 'db' },
    { admin: 'hunter2', url: 'mysql://app:hunter2@db/shop' },
  ],
  [{ TOKEN_OF_CI: 'tok', TAG: '9', PORT: '80' }, { token: 'tok' }],
  [{}, {}],
])('the variables %j give the keys the values %j', async (variables, values) => {
  const cwd = makeFolder({ 'compose.yaml': COMPOSE, 'devctl.yml': MANIFEST })
  const output = { isTTY: false, write: () => true }
  const io = { stdout: output, stderr: output, readStdin: async () => new Uint8Array(), env: variables, cwd }
  const loading = { environment: 'staging', file: undefined, projectDirectory: undefined, envFile: undefined }
  const options = { ...loading, profile: undefined, allowOutside: false, name: undefined, namespace: undefined }
  const keys = await neededKeys(io, options, await openProject(io, options))
  expect(keys.map(({ key }) => key).sort()).toEqual(['admin', 'app', 'token', 'url'])
  const known = keys.flatMap(({ key, value }) => (value ? [[key, new TextDecoder().decode(value)] as const] : []))
  expect(Object.fromEntries(known)).toEqual(values)
})
