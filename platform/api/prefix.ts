/** All paths of the API begin with it. */
export const API = '/api/v1'

/** What a request for a connection asks to go on with: HTTP/2 with the calls of a builder. */
export const TUNNEL_PROTOCOL = 'devctl-tunnel'
