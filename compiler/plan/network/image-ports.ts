import { parseImageReference } from '../../values/images/image-reference.ts'

/**
 * Returns the port on which a well-known image serves its clients, by the last part of the image name; undefined for
 * other images. The ports come from the images' documentation.
 */
export function wellKnownPort(image: string | undefined): number | undefined {
  const reference = image === undefined ? undefined : parseImageReference(image)
  if (!reference?.ok) return undefined
  const parts = reference.value.name.split('/')
  const last = parts.at(-1)!
  return PORTS.get(last) ?? (last === 'server' ? PORTS.get(parts.at(-2) ?? '') : undefined)
}

const PORTS: ReadonlyMap<string, number> = new Map(
  Object.entries({
    'activemq-classic': 61616,
    cassandra: 9042,
    clickhouse: 8123,
    'clickhouse-server': 8123,
    consul: 8500,
    couchdb: 5984,
    'cp-kafka': 9092,
    dragonfly: 6379,
    elasticsearch: 9200,
    etcd: 2379,
    influxdb: 8086,
    kafka: 9092,
    keydb: 6379,
    mailhog: 1025,
    mailpit: 1025,
    mariadb: 3306,
    meilisearch: 7700,
    memcached: 11211,
    minio: 9000,
    mongo: 27017,
    mongodb: 27017,
    'mongodb-community-server': 27017,
    mssql: 1433,
    mysql: 3306,
    nats: 4222,
    neo4j: 7687,
    opensearch: 9200,
    pgvector: 5432,
    postgis: 5432,
    postgres: 5432,
    postgresql: 5432,
    qdrant: 6333,
    rabbitmq: 5672,
    redis: 6379,
    'redis-stack': 6379,
    'redis-stack-server': 6379,
    redpanda: 9092,
    solr: 8983,
    timescaledb: 5432,
    typesense: 8108,
    valkey: 6379,
    vault: 8200,
    zookeeper: 2181,
  }),
)
