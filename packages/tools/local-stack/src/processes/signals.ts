/** The signals that stop and kill a process. */
export interface Signals {
  readonly stop: NodeJS.Signals;
  readonly kill: NodeJS.Signals;
}

/** PostgreSQL differs: SIGINT is its fast shutdown, and SIGQUIT kills it together with its workers. */
export const signalsOf = (name: string): Signals =>
  name === 'postgres' ? { stop: 'SIGINT', kill: 'SIGQUIT' } : { stop: 'SIGTERM', kill: 'SIGKILL' };
