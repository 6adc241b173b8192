/** How a process is asked to stop, and what ends it when it does not. */
export interface Signals {
  readonly ask: NodeJS.Signals;
  readonly insist: NodeJS.Signals;
}

/** PostgreSQL has its own: SIGINT is its fast shutdown, SIGQUIT ends it at once together with its workers. */
export const signalsOf = (name: string): Signals =>
  name === 'postgres' ? { ask: 'SIGINT', insist: 'SIGQUIT' } : { ask: 'SIGTERM', insist: 'SIGKILL' };
