/**
 * A Compose file with a number of services, as a team would write them: an API with everything every fifth time, and
 * small services beside it.
 */
export function composeFile(count) {
  const services = Array.from({ length: count }, (_, index) => serviceText(index))
  const volumes = Array.from({ length: Math.ceil(count / 5) }, (_, index) => `  data-${index * 5}:\n`)
  return `services:\n${services.join('')}volumes:\n${volumes.join('')}`
}

function serviceText(index) {
  const before = index % 5 === 0 ? undefined : `service-${index - (index % 5)}`
  const lines = [
    `  service-${index}:`,
    `    image: registry.example.com/team/service-${index}:1.${index}`,
    '    environment:',
    '      LOG_LEVEL: ${LOG_LEVEL:-info}',
    `      NAME: service-${index}`,
    ...(before === undefined ? [] : [`      UPSTREAM: http://${before}:8080/api`]),
    '    ports:',
    `      - "${10000 + index}:8080"`,
    '      - "9090"',
    '    labels:',
    '      team: shop',
    '    deploy:',
    '      resources:',
    '        limits: {cpus: "0.50", memory: 256M}',
    ...(before === undefined
      ? [
          '    command: ["serve", "--port", "8080"]',
          '    healthcheck:',
          '      test: ["CMD", "wget", "-q", "-O", "/dev/null", "http://127.0.0.1:8080/healthz"]',
          '      interval: 10s',
          '    volumes:',
          `      - data-${index}:/var/lib/service`,
        ]
      : ['    depends_on:', `      - ${before}`]),
  ]
  return `${lines.join('\n')}\n`
}

/**
 * A Compose file of three objects a service (Deployment, Service, ConfigMap) that run nothing: what they cost is the
 * API's work alone.
 */
export function idleComposeFile(count) {
  const names = Array.from({ length: count }, (_, index) => `service-${index}`)
  const services = names.map(name =>
    [
      `  ${name}:`,
      `    image: registry.example.com/team/${name}:1.0`,
      '    environment:',
      '      LOG_LEVEL: info',
      `      NAME: ${name}`,
      '    expose: ["8080"]',
      `    configs: [${name}]`,
      '    scale: 0',
    ].join('\n'),
  )
  const configs = names.map(name => `  ${name}: {content: "name = ${name}"}`)
  return `services:\n${services.join('\n')}\nconfigs:\n${configs.join('\n')}\n`
}

/** Three services, each of which waits for the one before to be healthy. */
export function chainComposeFile(image) {
  const names = ['first', 'second', 'third']
  const services = names.map((name, index) =>
    [
      `  ${name}:`,
      `    image: ${image}`,
      '    command: ["sleep", "3600"]',
      '    stop_grace_period: 1s',
      '    healthcheck: {test: ["CMD", "true"], interval: 1s}',
      ...(index === 0 ? [] : ['    depends_on:', `      ${names[index - 1]}: {condition: service_healthy}`]),
    ].join('\n'),
  )
  return `services:\n${services.join('\n')}\n`
}
