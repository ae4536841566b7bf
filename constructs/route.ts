import { ApiObject } from 'cdk8s'
import * as k8s from 'cdk8s-plus-27/lib/imports/k8s.js'
import type { Construct } from 'constructs'
import type { Environment, RoutePlan } from '../compiler/plan/plan.ts'
import { objectMeta } from './labels.ts'

/** Input for the constructs of public HTTPS routes. */
interface Routing {
  readonly plan: RoutePlan
  readonly environment: Environment
}

/** A public HTTPS route to services, as an Ingress. */
export class IngressRoute extends k8s.KubeIngress {
  constructor(scope: Construct, id: string, { plan, environment }: Routing) {
    super(scope, id, ingressProps(plan, environment))
  }
}

/** A public HTTPS route to services through the Gateway API, which has no typed classes. */
export class GatewayRoute extends ApiObject {
  constructor(scope: Construct, id: string, { plan, environment }: Routing) {
    super(scope, id, httpRouteJson(plan, environment))
  }
}

/** Returns the JSON of a route of either kind, without a chart. */
export function routeJson(plan: RoutePlan, environment: Environment): object {
  return plan.kind === 'Ingress'
    ? k8s.KubeIngress.manifest(ingressProps(plan, environment))
    : httpRouteJson(plan, environment)
}

function ingressProps(plan: RoutePlan, environment: Environment): k8s.KubeIngressProps {
  return { metadata: objectMeta(plan, environment), spec: ingressSpec(plan) }
}

function httpRouteJson(plan: RoutePlan, environment: Environment) {
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: objectMeta(plan, environment),
    spec: httpRouteSpec(plan),
  }
}

function ingressSpec(plan: RoutePlan): k8s.IngressSpec {
  const paths = plan.rules.map(({ path, service, port }) => ({
    path,
    pathType: 'Prefix',
    backend: { service: { name: service, port: { number: port } } },
  }))
  return {
    ingressClassName: plan.ingressClassName,
    rules: [{ host: plan.host, http: { paths } }],
    // The controller responds with its own certificate if the Secret is missing.
    tls: [{ hosts: [plan.host], secretName: plan.tlsSecret }],
  }
}

/**
 * Returns the spec of an HTTPRoute. TLS ends at the gateway's listener, which the cluster's operator configures.
 * Contains the defaults of the custom resource explicitly: the lists of an HTTPRoute are compared as a whole, so
 * defaults that the server adds would count as drift.
 */
function httpRouteSpec(plan: RoutePlan): object {
  return {
    parentRefs: plan.gateway && [
      {
        group: 'gateway.networking.k8s.io',
        kind: 'Gateway',
        namespace: plan.gateway.namespace,
        name: plan.gateway.name,
      },
    ],
    hostnames: [plan.host],
    rules: plan.rules.map(({ path, service, port }) => ({
      matches: [{ path: { type: 'PathPrefix', value: path } }],
      backendRefs: [{ group: '', kind: 'Service', name: service, port, weight: 1 }],
    })),
  }
}
