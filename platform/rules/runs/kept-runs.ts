/** Maximum number of runs that are kept of each environment, and of each namespace. */
export const KEPT_RUNS = { perEnvironment: 10, perNamespace: 100 }
