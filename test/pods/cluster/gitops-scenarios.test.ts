import { gitopsScenarios } from '../../support/cluster/gitops-scenarios.ts'

// The ways that differ most; the others are in test/long.
gitopsScenarios(['argo', 'flux'])
