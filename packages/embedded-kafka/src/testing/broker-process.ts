/** A broker in a process of its own, on the same port and data whenever it runs. */
export interface BrokerProcess {
  readonly brokers: string;
  /** Asks it to end. */
  readonly stop: () => Promise<void>;
  /** Ends it on the spot. */
  readonly kill: () => Promise<void>;
  /** Starts it again, after `stop` or `kill`. */
  readonly start: () => Promise<void>;
  /** Ends it for good and takes its data away. */
  readonly remove: () => Promise<void>;
}
