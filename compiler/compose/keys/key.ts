import type { Row } from '../../schema/shape.ts'
import type { MapTree } from '../../text/tree.ts'
import type { Service } from '../project.ts'
import type { ReadContext } from '../read/context.ts'

/** A key of a service: its row, and what is read of it. */
export interface Key extends Row {
  /** The properties of `Service` that come from the key. Several keys may have one reader in common. */
  readonly read?: Readers | FamilyReader
  /** A key of a container that a `pre_start` hook does not take from its service. */
  readonly ofServiceAlone?: true
}

/** Gives the value of one property; `key` is the key whose row has the reader. */
export type Readers = {
  readonly [Property in keyof Service]?: (service: MapTree, context: ReadContext, key: string) => Service[Property]
}

/** Gives several properties that are read together. */
export type FamilyReader = (service: MapTree, context: ReadContext) => Partial<Service>

export type Keys = Readonly<Record<string, Key>>

/** The properties of `Service` that the rows of some keys read. */
export type PropertiesOf<Family extends Keys> = {
  [Name in keyof Family]: Family[Name] extends { readonly read: infer Read }
    ? Read extends (...parameters: never[]) => infer Result
      ? keyof Result
      : keyof Read
    : never
}[keyof Family]
