/** A broker in its own process. It keeps its port and its data across restarts. */
export interface BrokerProcess {
  readonly brokers: string;
  /** Sends SIGTERM and waits for the exit. */
  readonly stop: () => Promise<void>;
  /** Sends SIGKILL and waits for the exit. */
  readonly kill: () => Promise<void>;
  /** Starts the broker again after `stop` or `kill`. */
  readonly start: () => Promise<void>;
  /** Kills the broker and deletes its data. */
  readonly remove: () => Promise<void>;
}
