/** A Compose file with a number of services, as a team would write them: an API with everything every fifth time, and small services beside it. */
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
