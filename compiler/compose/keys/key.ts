import type { Row } from '../../schema/shape.ts'
import type { MapTree } from '../../text/tree.ts'
import type { Service } from '../project.ts'
import type { ReadContext } from '../read/context.ts'

/** The row of a service key, with its readers. */
export interface Key extends Row {
  /** The readers of the properties of `Service` that the key sets. Several keys may share a reader. */
  readonly read?: ReadersOf<Service> | FamilyReader
  /** Set on a container key that a `pre_start` hook does not inherit from its service. */
  readonly notInherited?: true
}

/**
 * Reader functions by the property of the model that they return. `key` is the name of the key whose row contains the
 * reader.
 */
export type ReadersOf<Model> = {
  readonly [Property in keyof Model]?: (service: MapTree, context: ReadContext, key: string) => Model[Property]
}

/** Returns several properties of a service at once. */
export type FamilyReader = (service: MapTree, context: ReadContext) => Partial<Service>

/** Rows of service keys, by name of the key. */
export type Keys = Readonly<Record<string, Key>>

/** The properties of `Service` that a family of keys sets. */
export type PropertiesOf<Family extends Keys> = {
  [Name in keyof Family]: Family[Name] extends { readonly read: infer Read }
    ? Read extends (...parameters: never[]) => infer Result
      ? keyof Result
      : keyof Read
    : never
}[keyof Family]
