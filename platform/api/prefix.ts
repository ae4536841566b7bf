/** The path prefix of the API. */
export const API = '/api/v1'

/** The protocol of upgraded connections: HTTP/2 that carries the calls of a build client. */
export const TUNNEL_PROTOCOL = 'devctl-tunnel'
