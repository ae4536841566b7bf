import { gitopsScenarios } from '../support/cluster/gitops-scenarios.ts'

// Two at a time, for a machine of two cores. Of each controller, one case runs before a merge: test/pods/alone.
gitopsScenarios(['argo', 'flux'])
gitopsScenarios(['argo-client-diff', 'argo-server-side'])
gitopsScenarios(['argo-waves', 'argo-server-diff'])
