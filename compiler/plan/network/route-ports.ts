/**
 * Container ports that the key `ports` never makes public, each with the reason. The entry `828015` matches nothing,
 * because it is not a valid port number; it is kept as it was in the original list.
 */
export const neverPublic: ReadonlyMap<number, 'database' | 'debugger'> = new Map([
  ...[
    3306, 1521, 1830, 5432, 1433, 1434, 7210, 7473, 8529, 7000, 7001, 9042, 8086, 9200, 9300, 5984, 27017, 27018, 27019,
    28017, 6379, 8087, 8088, 828015, 29015, 28015, 7574, 8983,
  ].map(port => [port, 'database'] as const),
  ...[2345, 5858, 9229, 5005, 1234, 4444, 5678].map(port => [port, 'debugger'] as const),
])

export const debuggerPorts: ReadonlySet<number> = new Set(
  [...neverPublic].filter(([, kind]) => kind === 'debugger').map(([port]) => port),
)
