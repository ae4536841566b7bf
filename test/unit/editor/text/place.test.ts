import { describe, expect, test } from 'vitest'
import { outlineOf } from '../../../../editor/text/outline.ts'
import { placeAt } from '../../../../editor/text/place.ts'
import { withCursor } from '../../../support/editor/cursor.ts'

/** Returns the place of the cursor as text: `key services.web im` is a key `im` in the mapping `services.web`. */
function shown(marked: string): string {
  const { text, offset } = withCursor(marked)
  const place = placeAt(outlineOf(text), offset)
  return place ? `${place.kind} ${place.path.join('.')} ${place.text}`.trimEnd() : 'nothing'
}

describe('placeAt', () => {
  test.each([
    ['‸', 'key'],
    ['ser‸', 'key  ser'],
    ['ser‸vices:\n', 'key  services'],
    ['services:\n  web:\n    ‸', 'key services.web'],
    ['services:\n  web:\n    image: x\n    ‸\n    ports: []', 'key services.web'],
    ['services:\n  web:\n    image: x\n  ‸', 'key services'],
    ['services:\n  web:\n    image: x\n‸', 'key'],
    ['services:\n  web:\n    image: x\n    po‸\n    ports: []', 'key services.web po'],
    ['services:\n  web:\n    restart: ‸', 'value services.web.restart'],
    ['services:\n  web:\n    restart: al‸ways', 'value services.web.restart always'],
    ['services:\n  web:\n    restart: "al‸', 'value services.web.restart al'],
    ['services:\n  web:\n    depends_on:\n      - ‸', 'value services.web.depends_on.0'],
    ['services:\n  web:\n    depends_on:\n      - db\n      - a‸', 'value services.web.depends_on.1 a'],
    ['services:\n  web:\n    depends_on:\n    - ‸', 'value services.web.depends_on.0'],
    ['services:\n  web:\n    ports:\n      - target: 80\n        ‸', 'key services.web.ports.0'],
    ['services:\n  web:\n    ports:\n      - tar‸get: 80', 'key services.web.ports.0 target'],
    ['services:\n  web:\n    depends_on: [db, ‸]', 'value services.web.depends_on.1'],
    ['services:\n  web:\n    depends_on: [d‸b, x]', 'value services.web.depends_on.0 db'],
    ['services:\n  web:\n    depends_on: [‸', 'value services.web.depends_on.0'],
    ['services:\n  web: {image: x, ‸}', 'key services.web'],
    ['services:\n  web: {im‸: x}', 'key services.web im'],
    ['services:\n  web: {image: ‸}', 'value services.web.image'],
    ['services:\n  web: {image: x}\n  ‸', 'key services'],
    ['services:\n  we‸b: {image: x}', 'key services web'],
    ['services:\n  web:\n    command: |\n      echo ‸', 'nothing'],
    ['services:\n  web:\n    image: x # ‸', 'nothing'],
    ['services:\n  web:\n    bro: [ken: ]\n  "b\n    ‸', 'key services.web'],
    ['a: {{{\nservices:\n  web:\n    ‸', 'key services.web'],
  ])('finds the place of the cursor in %j', (text, expected) => {
    expect(shown(text)).toBe(expected)
  })
})
