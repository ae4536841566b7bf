/** Regular expression for the names of users without a provider. */
export const LOGIN = '^[A-Za-z0-9][-A-Za-z0-9_.]{0,38}$'
