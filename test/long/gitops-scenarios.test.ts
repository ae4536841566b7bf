import { gitopsScenarios } from '../support/cluster/gitops-scenarios.ts'

// Those that `.ci/run` leaves out; two at a time, for a machine of two cores.
gitopsScenarios(['argo-client-diff', 'argo-server-side'])
gitopsScenarios(['argo-waves', 'argo-server-diff'])
