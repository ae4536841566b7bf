/** Whether what a run before a merge need not repeat is tried, too: `npm run test:long` sets it. */
export const TAKES_ALL = process.env.TAKE === 'all'
