import { expect, test } from 'vitest'
import type { Recognised } from '../../../../init/application.ts'
import { recogniseJava } from '../../../../init/languages/java.ts'
import { recogniseNode } from '../../../../init/languages/node.ts'
import { recognisePhp } from '../../../../init/languages/php.ts'
import { recognisePython } from '../../../../init/languages/python.ts'
import { recogniseRuby } from '../../../../init/languages/ruby.ts'
import { version } from '../../../../init/languages/versions.ts'
import { openProjectFiles, type ProjectFiles } from '../../../../init/project-files.ts'
import { makeFolder } from '../../../support/cli/folder.ts'

test.each<readonly [text: string, parts: number, found: string | undefined]>([
  ['>=20.11 <23', 1, '20'],
  ['<23 >=18', 1, '18'],
  ['< v23 || 18', 1, '18'],
  ['<4.0,>=3.10', 2, '3.10'],
  ['!=3.9.*,>=3.8', 2, '3.8'],
  ['<4.0,!=3.9', 2, undefined],
  ['<=3.12', 2, '3.12'],
  ['<23', 1, undefined],
  ['lts/*', 1, undefined],
  ['v22.1.0', 1, '22'],
])('a range of versions gives a version that is part of it: %s', (text, parts, found) => {
  expect(version(text, parts)).toBe(found)
})

type Recogniser = (files: ProjectFiles) => Recognised | undefined

test.each<readonly [file: string, text: string, image: string, recognise: Recogniser]>([
  ['pyproject.toml', 'requires-python = "<4.0,>=3.10"\n', 'python:3.10', recognisePython],
  ['pyproject.toml', 'requires-python = "<4.0"\n', 'python:3.13', recognisePython],
  ['pyproject.toml', 'python = "<3.14,>=3.11"\n', 'python:3.11', recognisePython],
  ['Pipfile', 'python_version = "3.12"\n', 'python:3.12', recognisePython],
  ['package.json', '{"engines": {"node": "<23 >=18"}}', 'node:18', recogniseNode],
  ['package.json', '{"engines": {"node": "<23"}}', 'node:22', recogniseNode],
  ['composer.json', '{"require": {"php": "<8.5 >=8.2"}}', 'php:8.2-cli', recognisePhp],
  ['composer.json', '{"require": {"php": "^8.3"}}', 'php:8.3-cli', recognisePhp],
  ['Gemfile', 'ruby "< 4", ">= 3.2"\n', 'ruby:3.2', recogniseRuby],
  ['Gemfile', 'ruby "~> 3.3.0"\n', 'ruby:3.3', recogniseRuby],
  ['build.gradle', 'sourceCompatibility = JavaVersion.VERSION_17\n', 'gradle:8-jdk17', recogniseJava],
  ['build.gradle', 'sourceCompatibility = JavaVersion.VERSION_1_8\n', 'gradle:8-jdk8', recogniseJava],
  ['build.gradle', "sourceCompatibility = '1.8'\n", 'gradle:8-jdk8', recogniseJava],
  ['build.gradle', "sourceCompatibility '11'\n", 'gradle:8-jdk11', recogniseJava],
  ['build.gradle', 'sourceCompatibility JavaVersion.VERSION_11\n', 'gradle:8-jdk11', recogniseJava],
  ['build.gradle', 'sourceCompatibility = 17\n', 'gradle:8-jdk17', recogniseJava],
  ['build.gradle', 'sourceCompatibility = javaVersion // 2 of them\n', 'gradle:8-jdk21', recogniseJava],
  ['build.gradle.kts', 'java.sourceCompatibility = JavaVersion.toVersion("17")\n', 'gradle:8-jdk17', recogniseJava],
  ['build.gradle.kts', 'languageVersion = JavaLanguageVersion.of("17")\n', 'gradle:8-jdk17', recogniseJava],
  ['pom.xml', '<java.version>1.8</java.version>\n', 'maven:3-eclipse-temurin-8', recogniseJava],
])('the image of an application has a version that it allows: %s with %s', (file, text, image, recognise) => {
  expect(recognise(openProjectFiles(makeFolder({ [file]: text })))?.image.value).toBe(image)
})
