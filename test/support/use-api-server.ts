import { inject } from 'vitest'
import { beginFile } from './platform/run-name.ts'

// Runs before each file: sets KUBECONFIG to the API server of this worker, see api-servers.ts.
const kubeconfigs = inject('kubeconfigs')
const own = kubeconfigs[(Number(process.env['VITEST_POOL_ID']) - 1) % kubeconfigs.length]
if (own === undefined) delete process.env['KUBECONFIG']
else process.env['KUBECONFIG'] = own
beginFile()
