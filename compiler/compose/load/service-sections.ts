import { get, isMap, type MapTree, type Tree } from '../../text/tree.ts'
import { mapSection } from './map-section.ts'

/** The sections whose entries are services in the loaded model: `jobsAsServices` moves the jobs to the services. */
const SERVICE_SECTIONS = ['services', 'jobs']

/** True for `services` and `jobs`. */
export const isServiceSection = (section: string | undefined): boolean => SERVICE_SECTIONS.includes(section ?? '')

/** Returns the services and jobs of a model, with their names. */
export const servicesAndJobs = (model: MapTree): readonly (readonly [name: string, service: Tree])[] =>
  SERVICE_SECTIONS.flatMap(section => {
    const entries = get(model, section)
    return isMap(entries) ? [...entries.entries].map(([name, { value }]) => [name, value] as const) : []
  })

/** Applies `change` to every service and job. Returns the same model if none of them changes. */
export const mapServicesAndJobs = (model: MapTree, change: (service: Tree, name: string) => Tree): MapTree =>
  SERVICE_SECTIONS.reduce((result, section) => mapSection(result, section, change), model)
