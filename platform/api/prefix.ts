/** All paths of the API begin with it. */
export const API = '/api/v1'
