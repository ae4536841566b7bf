import type { Guess, Recognised } from '../application.ts'
import type { ProjectFiles } from '../project-files.ts'
import { version } from './versions.ts'

const GRADLE = ['build.gradle', 'build.gradle.kts']
const PROPERTIES = ['application.properties', 'application.yml', 'application.yaml'].map(
  name => `src/main/resources/${name}`,
)

export function recogniseJava(files: ProjectFiles): Recognised | undefined {
  const marker = ['pom.xml', ...GRADLE].find(name => files.has(name))
  if (marker === undefined) return undefined
  const text = files.text(marker) ?? ''
  const framework =
    text.includes('spring-boot') || text.includes('org.springframework.boot')
      ? 'Spring Boot'
      : text.includes('quarkus')
        ? 'Quarkus'
        : undefined
  const tool = marker === 'pom.xml' ? maven(files, framework) : gradle(files, framework)
  const java = javaVersion(text)
  const from = java.from === undefined ? {} : { from: `${java.from} in ${marker}` }
  return {
    title: framework === undefined ? 'Java' : `Java, ${framework}`,
    marker,
    image: { value: tool.image(java.value), ...from },
    commands: [{ value: tool.command, from: tool.from ?? marker }],
    port: portOf(files) ?? { value: 8080, ...(framework && { from: `the default of ${framework}` }) },
    debugger: {
      port: 5005,
      hint: 'when Java runs with `-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=*:5005`',
    },
    caches: [tool.cache],
    ignores: marker === 'pom.xml' ? ['target'] : ['build', '.gradle'],
  }
}

interface Tool {
  readonly image: (java: string) => string
  readonly command: string
  readonly from?: string
  readonly cache: string
}

function maven(files: ProjectFiles, framework: string | undefined): Tool {
  const goal =
    framework === 'Spring Boot' ? 'spring-boot:run' : framework === 'Quarkus' ? 'quarkus:dev' : 'compile exec:java'
  if (files.has('mvnw'))
    return { image: java => `eclipse-temurin:${java}`, command: `./mvnw ${goal}`, from: 'mvnw', cache: '/root/.m2' }
  return { image: java => `maven:3-eclipse-temurin-${java}`, command: `mvn ${goal}`, cache: '/root/.m2' }
}

function gradle(files: ProjectFiles, framework: string | undefined): Tool {
  const task = framework === 'Spring Boot' ? 'bootRun' : framework === 'Quarkus' ? 'quarkusDev' : 'run'
  if (files.has('gradlew'))
    return {
      image: java => `eclipse-temurin:${java}`,
      command: `./gradlew ${task}`,
      from: 'gradlew',
      cache: '/root/.gradle',
    }
  return { image: java => `gradle:8-jdk${java}`, command: `gradle ${task}`, cache: '/home/gradle/.gradle' }
}

const JAVA: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['`java.version`', /<java\.version>\s*([\d.]+)/],
  ['`maven.compiler.release`', /<maven\.compiler\.release>\s*([\d.]+)/],
  ['`release`', /<release>\s*([\d.]+)/],
  ['`maven.compiler.source`', /<maven\.compiler\.source>\s*([\d.]+)/],
  ['`languageVersion`', /JavaLanguageVersion\.of\(\s*["']?(\d+)/],
  ['`jvmToolchain`', /jvmToolchain\(\s*(\d+)/],
  [
    '`sourceCompatibility`',
    /sourceCompatibility[\s=(]*(?:JavaVersion\.(?:VERSION_|toVersion\(\s*))?["']?((?:1[._])?\d+)/,
  ],
]

function javaVersion(text: string): Guess<string> {
  for (const [from, pattern] of JAVA) {
    // Java 8 calls itself 1.8, and `VERSION_1_8`.
    const found = version(pattern.exec(text)?.[1]?.replace(/^1[._]/, ''), 1)
    if (found !== undefined) return { value: found, from }
  }
  return { value: '21' }
}

function portOf(files: ProjectFiles): Guess<number> | undefined {
  for (const path of PROPERTIES) {
    const text = files.text(path) ?? ''
    const port =
      /^server\.port\s*=\s*(?:\$\{\w+:)?(\d+)/m.exec(text) ??
      /^server:\s*\n(?:\s+.*\n)*?\s+port:\s*(?:\$\{\w+:)?(\d+)/m.exec(text)
    if (port) return { value: Number(port[1]), from: path }
  }
  return undefined
}
